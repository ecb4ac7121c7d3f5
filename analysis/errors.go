package analysis

import "errors"

// Why a statistic has no value. Results name them in the reason of a comparison.
var (
	ErrNoData         = errors.New("no data")
	ErrNoSharedRound  = errors.New("no round in common with the baseline")
	ErrTooFew         = errors.New("too few values")
	ErrNotFinite      = errors.New("a value is not finite")
	ErrNonPositive    = errors.New("a value is zero or negative, and has no logarithm")
	ErrZeroVariance   = errors.New("the values do not vary")
	ErrLengthMismatch = errors.New("samples to be paired differ in length")
	ErrUnboundedRatio = errors.New("the denominator cannot be told from zero")
	ErrBadParameter   = errors.New("parameter out of range")
)

// reason names an error the way results show it.
func reason(err error) string {
	switch {
	case errors.Is(err, ErrNoData):
		return "ErrNoData"
	case errors.Is(err, ErrTooFew):
		return "n < 3"
	case errors.Is(err, ErrNotFinite):
		return "ErrNotFinite"
	case errors.Is(err, ErrNonPositive):
		return "ErrNonPositive"
	default:
		return err.Error()
	}
}
