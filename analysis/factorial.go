package analysis

// Factorial is two changes, a and b, each alone and both together, on the scale of ratios.
type Factorial struct {
	Interaction Estimate // effect of a with b by its effect without b; the same with a and b swapped
	AWithoutB   Estimate // a by the baseline
	AWithB      Estimate // both by b
	BWithoutA   Estimate // b by the baseline
}

// FactorialPaired is the 2x2 contrast log ab - log a - log b + log base by round, with the
// paired t. Two changes that hide each other have an interaction above 1 and little
// effect alone. The values are in the same order of rounds. ErrTooFew for one round,
// ErrLengthMismatch, ErrNonPositive.
func FactorialPaired(base, a, b, ab []float64, confidence float64) (Factorial, error) {
	var f Factorial
	for _, e := range []struct {
		into          *Estimate
		before, after []float64
	}{
		{&f.AWithoutB, base, a}, {&f.AWithB, b, ab}, {&f.BWithoutA, base, b},
	} {
		var err error
		if *e.into, err = RatioPaired(e.before, e.after, confidence); err != nil {
			return Factorial{}, err
		}
	}
	contrast := minus(minus(logs(ab), logs(b)), minus(logs(a), logs(base)))
	e, err := meanOf(contrast, logScale(contrast), confidence)
	f.Interaction = e.exponential()
	return f, err
}
