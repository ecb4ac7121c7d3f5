package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Check refuses a host that has less than is required. The error wraps ErrCannotRun
// and says what is there. The memory of a host is what its kernel gives out: a little
// less than what is built in.
func (r Requires) Check(h Host) error {
	var lacks []string
	if r.Cores > len(h.Cores) {
		lacks = append(lacks, fmt.Sprintf("%d cores, the host has %d", r.Cores, len(h.Cores)))
	}
	if r.Memory > h.Memory {
		need, have := gibibytes(r.Memory), gibibytes(h.Memory)
		if need == have {
			need, have = fmt.Sprintf("%d B", r.Memory), fmt.Sprintf("%d B", h.Memory)
		}
		lacks = append(lacks, fmt.Sprintf("%s of memory, the host has %s", need, have))
	}
	if len(lacks) == 0 {
		return nil
	}
	return WithHint(fmt.Errorf("requires %s: %w", strings.Join(lacks, "; "), ErrCannotRun),
		"measure on a host that has it, or lower requires in the matrix")
}

// gibibytes prints a size with two decimals at most.
func gibibytes(n int64) string {
	return strconv.FormatFloat(math.Round(float64(n)/(1<<30)*100)/100, 'f', -1, 64) + " GiB"
}
