package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// doses is what a metric is at the levels of an axis, those left out that cannot be tested.
type doses struct {
	levels  []axisLevel
	samples []Sample    // of the rounds of the baseline
	means   []float64   // on the working scale
	weights []float64   // runs
	paired  bool        // there are rounds
	rounds  [][]float64 // those that every level has, on the working scale
}

// doses collects the values of a metric. A level that lacks rounds has the mean of the
// reference (the baseline, or the lowest level of a condition) and its own mean effect on that.
func (w *worker) doses(a axis, o Options) doses {
	d := doses{paired: a.stage.paired}
	var reference Sample
	if a.baseline != nil {
		if reference = a.baseline.sample(o.Metric, d.paired, w.set.ErrorRate); !o.usable(reference) {
			return d
		}
	}
	for _, l := range a.levels {
		s := l.cell.sample(o.Metric, d.paired, w.set.ErrorRate)
		if d.paired && a.baseline != nil {
			s = s.within(reference.Rounds)
		}
		if !o.usable(s) {
			continue
		}
		if reference.Values == nil {
			reference = s
		}
		mean := stat.Mean(o.working(s.Values), nil)
		if d.paired {
			x, y := shared(reference, s)
			if len(x) == 0 {
				continue
			}
			mean = stat.Mean(o.working(reference.Values), nil) + stat.Mean(minus(o.working(y), o.working(x)), nil)
		}
		d.levels, d.samples, d.means = append(d.levels, l), append(d.samples, s), append(d.means, mean)
		d.weights = append(d.weights, float64(len(s.Values)))
	}
	if d.paired {
		d.complete(o)
	}
	return d
}

// complete finds the rounds that every level has.
func (d *doses) complete(o Options) {
	if len(d.samples) == 0 {
		return
	}
	for _, round := range d.samples[0].Rounds {
		var row []float64
		for _, s := range d.samples {
			if i := slices.Index(s.Rounds, round); i >= 0 {
				row = append(row, s.Values[i])
			}
		}
		if len(row) == len(d.samples) {
			d.rounds = append(d.rounds, o.working(row))
		}
	}
}

// usable reports whether the values may be tested.
func (o Options) usable(s Sample) bool {
	if s.Unfit != "" {
		return false
	}
	if o.difference() {
		return checkFinite(s.Values) == nil
	}
	return checkPositive(s.Values) == nil
}

// working takes values to the working scale.
func (o Options) working(x []float64) []float64 {
	if o.difference() {
		return x
	}
	return logs(x)
}

// within keeps the values of some rounds.
func (s Sample) within(rounds []int) Sample {
	out := Sample{Cell: s.Cell, Rounds: []int{}, Unfit: s.Unfit}
	for i, round := range s.Rounds {
		if slices.Contains(rounds, round) {
			out.Rounds, out.Values = append(out.Rounds, round), append(out.Values, s.Values[i])
		}
	}
	return out
}

// trend tests for a monotone trend, by rounds or, without them, by all values. n is the
// number of rounds, or of the values of the level that has fewest. ErrTooFew below 3.
func (d doses) trend() (t OrderedTest, test string, n int, err error) {
	if d.paired {
		if n = len(d.rounds); n < fewestRounds {
			return t, "", n, ErrTooFew
		}
		t, err = Page(d.rounds)
		return t, testPage, n, err
	}
	var groups [][]float64
	for i, s := range d.samples {
		groups = append(groups, s.Values)
		if i == 0 || len(s.Values) < n {
			n = len(s.Values)
		}
	}
	if n < fewestRounds {
		return t, "", n, ErrTooFew
	}
	t, err = Jonckheere(groups)
	return t, testJonckheere, n, err
}

// fit gives the isotonic fit on the working scale: in the direction of the trend, or where
// none is shown in the one that is closer.
func (d doses) fit(t experiment.Trend) ([]float64, error) {
	up, err := Isotonic(d.means, d.weights)
	if err != nil {
		return nil, err
	}
	down, err := Antitonic(d.means, d.weights)
	if err != nil {
		return nil, err
	}
	if t == experiment.TrendFalling || t != experiment.TrendRising &&
		squaresApart(d.means, down, d.weights) < squaresApart(d.means, up, d.weights) {
		return down, nil
	}
	return up, nil
}

// knee looks for a bend in log2(level), of the logarithm of the metric: from 5 levels above
// 0 and 5 rounds on. It is told if two lines are closer than one by the F test (2 more
// parameters, against the spread inside rounds), and differ by the minimum effect a doubling. The
// test is as good as its level, though the break is looked for: simulated false alarms on a
// straight line are 4% at 5 levels and 6% at 12, of 5%.
func (d doses) knee(o Options) *experiment.Knee {
	if o.difference() {
		return nil
	}
	columns, n := d.columns()
	var x, y []float64
	var within float64
	levels := 0
	for i, column := range columns {
		if d.levels[i].value <= 0 {
			continue
		}
		levels++
		mean := stat.Mean(column, nil)
		for _, v := range column {
			x, y = append(x, math.Log2(d.levels[i].value)), append(y, v/math.Ln2)
			within += (v - mean) * (v - mean) / (math.Ln2 * math.Ln2)
		}
	}
	if levels < kneeLevels || n < fewRounds {
		return nil
	}
	df := float64(len(y) - levels)
	if d.paired {
		df -= float64(n - 1)
	}
	s, err := BrokenStick(x, y)
	if err != nil || math.Abs(s.After-s.Before) < math.Log2(1+o.MinimumEffect) {
		return nil
	}
	// The tail of F with 2 and df degrees of freedom.
	if chance := math.Pow(1+(s.Straight-s.Squares)/within, -df/2); !(chance < 1-o.Confidence) {
		return nil
	}
	at := math.Exp2(s.Break)
	if checkFinite([]float64{at, s.Before, s.After}) != nil {
		return nil
	}
	return &experiment.Knee{At: at, Before: s.Before, After: s.After}
}

// columns gives the values of each level on the scale of logarithms, less the level of their
// round, and how many there are of the level that has fewest.
func (d doses) columns() (columns [][]float64, n int) {
	columns = make([][]float64, len(d.levels))
	if d.paired {
		for _, row := range d.rounds {
			mean := stat.Mean(row, nil)
			for i, v := range row {
				columns[i] = append(columns[i], v-mean)
			}
		}
		return columns, len(d.rounds)
	}
	for i, s := range d.samples {
		columns[i] = logs(s.Values)
		if i == 0 || len(s.Values) < n {
			n = len(s.Values)
		}
	}
	return columns, n
}
