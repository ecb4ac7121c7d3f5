package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// SQLFunc is a statistic in the form of an aggregate of SQL. Its number is that of the
// results where these have one.
type SQLFunc struct {
	Name string
	Args []string // as a call names them
	Help string   // one sentence
	New  func() *Accumulator
}

// SQLFuncs lists the aggregates. A row whose value is NULL is left out, as SQL does. The
// answer is NULL where there is no such number: of no values, of fewer than 3 for an
// interval, of fewer than 2 for a spread, of a value that has no logarithm.
func SQLFuncs() []SQLFunc {
	ci := func(name, help string, end func(e Estimate) float64) []SQLFunc {
		return withDefault(SQLFunc{Name: name, Args: []string{"x", "confidence"}, Help: help, New: accumulate(of{
			values: 1, parameter: checkConfidence, omitted: experiment.DefaultConfidence,
			result: func(a *Accumulator) (float64, error) { return meanEnd(a.x, a.parameter, end) },
		})})
	}
	ratio := func(name, help string, end func(experiment.Comparison) *float64) []SQLFunc {
		return withDefault(SQLFunc{Name: name, Args: []string{"x", "base", "round", "confidence"}, Help: help, New: accumulate(of{
			values: 2, rounds: true, parameter: checkConfidence, omitted: experiment.DefaultConfidence,
			result: func(a *Accumulator) (float64, error) { return a.ratioEnd(end) },
		})})
	}
	one := func(name, help string, result func(x []float64) (float64, error)) SQLFunc {
		return SQLFunc{Name: name, Args: []string{"x"}, Help: help, New: accumulate(of{
			values: 1, result: func(a *Accumulator) (float64, error) { return result(a.x) },
		})}
	}
	return slices.Concat([]SQLFunc{
		one("mean", "arithmetic mean", meanOnly),
		one("median", "middle value, or the midpoint of the two in the middle", medianOnly),
		one("stddev", "standard deviation of a sample, by n-1", deviation),
		one("cv", "standard deviation by the absolute mean", variation),
		one("geomean", "geometric mean", geometricOnly),
		{Name: "quantile", Args: []string{"x", "q"}, Help: "quantile by linear interpolation (type 7), q from 0 to 1", New: accumulate(of{
			values: 1, parameter: checkQuantile,
			result: func(a *Accumulator) (float64, error) { return Quantile(a.x, a.parameter) },
		})},
	},
		ci("ci_low", "low end of the t interval of the mean; confidence 0.95 if left out", func(e Estimate) float64 { return e.Low }),
		ci("ci_high", "high end of the same interval", func(e Estimate) float64 { return e.High }),
		ratio("ratio_low", "low end of the interval of the ratio of x to base, the value of the baseline in the same round: paired by round, on logs", func(c experiment.Comparison) *float64 { return c.Low }),
		ratio("ratio_high", "high end of the same interval", func(c experiment.Comparison) *float64 { return c.High }),
	)
}

// withDefault adds the form without the last argument.
func withDefault(f SQLFunc) []SQLFunc {
	short := f
	short.Args = f.Args[:len(f.Args)-1]
	return []SQLFunc{short, f}
}

// of says what an aggregate takes: values, then their round, then a parameter that is
// the same in every row.
type of struct {
	values    int
	rounds    bool
	parameter func(float64) error // what may be given; nil: no parameter
	omitted   float64             // the parameter, if the call leaves it out
	result    func(a *Accumulator) (float64, error)
}

func accumulate(o of) func() *Accumulator {
	return func() *Accumulator { return &Accumulator{of: o, parameter: o.omitted} }
}

// Accumulator is an aggregate at work on one group of rows.
type Accumulator struct {
	of        of
	rows      int
	x, base   []float64
	rounds    []int64
	parameter float64
}

// Step takes the arguments of one row: nil for NULL, else an int64 or a float64;
// anything else is an error.
func (a *Accumulator) Step(args []any) error {
	numbers := make([]float64, len(args))
	absent := false
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
			if a.of.rounds && i == 2 {
				return errors.New("a row without a round cannot be paired")
			}
			absent = true
		case int64:
			numbers[i] = float64(v)
		case float64:
			numbers[i] = v
		default:
			return fmt.Errorf("argument %d is no number", i+1)
		}
	}
	fixed := a.of.values
	if a.of.rounds {
		fixed++
	}
	if len(args) > fixed {
		if err := a.take(numbers[fixed], args[fixed] == nil); err != nil {
			return err
		}
	}
	a.rows++
	if absent {
		return nil
	}
	a.x = append(a.x, numbers[0])
	if a.of.values > 1 {
		a.base = append(a.base, numbers[1])
	}
	if a.of.rounds {
		a.rounds = append(a.rounds, int64(numbers[2]))
	}
	return checkFinite(numbers[:a.of.values])
}

// take takes the parameter of a row.
func (a *Accumulator) take(v float64, null bool) error {
	switch {
	case null:
		return fmt.Errorf("the last argument is NULL: %w", ErrBadParameter)
	case a.rows > 0 && v != a.parameter:
		return fmt.Errorf("the last argument is %v in one row and %v in another: %w", a.parameter, v, ErrBadParameter)
	}
	a.parameter = v
	if err := a.of.parameter(v); err != nil {
		return fmt.Errorf("%v: %w", v, err)
	}
	return nil
}

// Done gives the number as a float64, or nil where there is none.
func (a *Accumulator) Done() (any, error) {
	v, err := a.of.result(a)
	switch {
	case errors.Is(err, ErrNoData), errors.Is(err, ErrTooFew), errors.Is(err, ErrNonPositive), err == nil && number(v) == nil:
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return v, nil
	}
}

func meanOnly(x []float64) (float64, error) {
	e, err := Mean(x, experiment.DefaultConfidence)
	return even(e, err)
}

func geometricOnly(x []float64) (float64, error) {
	e, err := GeometricMean(x, experiment.DefaultConfidence)
	return even(e, err)
}

// even takes the value of an estimate that has no interval, too.
func even(e Estimate, err error) (float64, error) {
	if errors.Is(err, ErrTooFew) {
		err = nil
	}
	return e.Value, err
}

func medianOnly(x []float64) (float64, error) {
	if len(x) == 0 {
		return 0, ErrNoData
	}
	return median(x), nil
}

func deviation(x []float64) (float64, error) {
	if len(x) < 2 {
		return 0, ErrTooFew
	}
	return stat.StdDev(x, nil), nil
}

// variation is the coefficient of a cell.
func variation(x []float64) (float64, error) {
	var i experiment.Interval
	if len(x) > 0 {
		describe(&i, x)
	}
	if i.CV == nil {
		return 0, ErrTooFew
	}
	return *i.CV, nil
}

func checkQuantile(q float64) error {
	if !(q >= 0 && q <= 1) {
		return ErrBadParameter
	}
	return nil
}

func meanEnd(x []float64, confidence float64, end func(Estimate) float64) (float64, error) {
	if len(x) < fewestRounds {
		return 0, ErrTooFew
	}
	e, err := Mean(x, confidence)
	return end(e), err
}

// ratioEnd compares the values with those of the baseline. Two values of one round are
// those of two cells: an error.
func (a *Accumulator) ratioEnd(end func(experiment.Comparison) *float64) (float64, error) {
	order := make([]int, len(a.rounds))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a.rounds[i], a.rounds[j]) })
	base, own := Sample{Rounds: []int{}}, Sample{Rounds: []int{}}
	for n, i := range order {
		if n > 0 && a.rounds[i] == a.rounds[order[n-1]] {
			return 0, fmt.Errorf("round %d is there twice: group by cell and metric, and join the baseline of the same sweep, stage and condition", a.rounds[i])
		}
		base.Rounds, base.Values = append(base.Rounds, int(a.rounds[i])), append(base.Values, a.base[i])
		own.Rounds, own.Values = append(own.Rounds, int(a.rounds[i])), append(own.Values, a.x[i])
	}
	c := Compare(base, own, Options{Metric: experiment.Metric{Scale: experiment.ScaleRatio}, Confidence: a.parameter})
	if v := end(c); v != nil {
		return *v, nil
	}
	return 0, ErrTooFew
}
