package experiment

import (
	"cmp"
	"errors"
	"slices"
)

// FieldErrors gives every *FieldError inside err, also joined and wrapped ones.
func FieldErrors(err error) []*FieldError {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case nil:
		return nil
	case *FieldError:
		return []*FieldError{e}
	case interface{ Unwrap() []error }:
		var all []*FieldError
		for _, inner := range e.Unwrap() {
			all = append(all, FieldErrors(inner)...)
		}
		return all
	default:
		return FieldErrors(errors.Unwrap(err))
	}
}

// JoinFieldErrors sorts faults by position, drops those said twice, and joins
// them. No faults give nil.
func JoinFieldErrors(faults []*FieldError) error {
	faults = slices.Clone(faults)
	slices.SortStableFunc(faults, func(a, b *FieldError) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	seen := map[string]bool{}
	var errs []error
	for _, f := range faults {
		if text := f.Error(); !seen[text] {
			seen[text] = true
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}
