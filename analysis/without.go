package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// CheckWithout looks whether the cells with some labels can be left out of a sweep. It
// fails on labels that no cell has, and on the baseline, without which nothing can be
// compared.
func CheckWithout(s experiment.Sweep, labels []string) error {
	var known []string
	for _, c := range s.Cells {
		if l := c.Label(); c.Role != experiment.RoleBaseline && !slices.Contains(known, l) {
			known = append(known, l)
		}
	}
	var faults []error
	for _, l := range labels {
		switch near := experiment.Suggest(l, known); {
		case l == string(experiment.RoleBaseline):
			faults = append(faults, errors.New("the baseline cannot be left out: every cell is set against it"))
		case slices.Contains(known, l):
		case near != "":
			faults = append(faults, fmt.Errorf("no cell is called %q (did you mean %s?)", l, near))
		default:
			faults = append(faults, fmt.Errorf("no cell is called %q; there are %s", l, strings.Join(known, ", ")))
		}
	}
	return errors.Join(faults...)
}

// without gives the sweep without the cells that have some labels, in any stage and
// under any condition, their runs and their ladders.
func without(s experiment.Sweep, labels []string) (experiment.Sweep, error) {
	if len(labels) == 0 {
		return s, nil
	}
	if err := CheckWithout(s, labels); err != nil {
		return s, err
	}
	gone := make(map[experiment.CellKey]bool)
	left := func(c experiment.Cell) bool {
		gone[c.Key] = slices.Contains(labels, c.Label())
		return gone[c.Key]
	}
	s.Cells = slices.DeleteFunc(slices.Clone(s.Cells), left)
	s.Ladders = slices.DeleteFunc(slices.Clone(s.Ladders), func(l experiment.Ladder) bool { return left(l.Cell) })
	s.Runs = slices.DeleteFunc(slices.Clone(s.Runs), func(r experiment.RunRecord) bool { return gone[r.Cell] })
	return s, nil
}
