package experiment

import (
	"errors"
	"fmt"
	"slices"
)

// PeelStage is the name of the k-th stage of a peel, from 1.
func PeelStage(k int) string { return fmt.Sprintf("peel-%d", k) }

// Peel gives the matrix of the k-th stage of a peel, from 1: a sweep of all factors
// around a baseline from which some settings were moved, later ones after earlier. Each
// is a matrix of its own, and a sweep of its own. A *FieldError where the matrix
// declares stages: it moves its baseline by itself.
func (m *Matrix) Peel(k int, moved []Setting) (*Matrix, error) {
	if len(m.Design.Stages) > 0 {
		return nil, &FieldError{
			At: m.Design.Stages[0].At, Path: "stages", Err: errors.New("a matrix that moves its baseline by itself cannot be peeled"),
			Hint: "leave out stages, or run it without --peel",
		}
	}
	out := *m
	out.Design.Stages = []Stage{{Name: PeelStage(k), Baseline: slices.Clone(moved)}}
	return &out, nil
}
