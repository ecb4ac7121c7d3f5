package analysis

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// called applies the function with as many arguments to the rows.
func called(t *testing.T, name string, rows ...[]any) (any, error) {
	t.Helper()
	for _, f := range SQLFuncs() {
		if f.Name != name || len(f.Args) != len(rows[0]) {
			continue
		}
		a := f.New()
		for _, row := range rows {
			if err := a.Step(row); err != nil {
				return nil, err
			}
		}
		return a.Done()
	}
	t.Fatalf("no function %s", name)
	return nil, nil
}

func column(x []float64, more ...any) [][]any {
	rows := make([][]any, len(x))
	for i, v := range x {
		rows[i] = append([]any{v}, more...)
	}
	return rows
}

// The numbers are those of the results, to the last bit.
func TestSQLFunctionsGiveTheNumbersOfTheResults(t *testing.T) {
	s := sampleSweep(3, 7, []string{"throughput"}, 3)
	cell, baseline := s.Cells[len(s.Cells)-1], s.Cells[0]
	set := defaults()
	set.Confidence = 0.99
	r, err := New().Analyse(s, set)
	if err != nil {
		t.Fatal(err)
	}
	i := intervalOf(t, r, string(cell.Key), "throughput")
	base := intervalOf(t, r, string(baseline.Key), "throughput").Values
	row := Compare(Sample{Rounds: []int{1, 2, 3, 4, 5, 6, 7}, Values: base}, Sample{Rounds: []int{1, 2, 3, 4, 5, 6, 7}, Values: i.Values},
		Options{Metric: experiment.Metric{Scale: experiment.ScaleRatio}, Confidence: 0.99})
	g, err := GeometricMean(i.Values, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Quantile(i.Values, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(more ...any) [][]any {
		rows := make([][]any, len(base))
		for n := range rows { // in another order: rows of SQL have none
			at := (n*3 + 1) % len(base)
			rows[n] = append([]any{i.Values[at], base[at], int64(at + 1)}, more...)
		}
		return rows
	}
	for name, c := range map[string]struct {
		function string
		rows     [][]any
		want     float64
	}{
		"mean":       {"mean", column(i.Values), *i.Estimate},
		"median":     {"median", column(i.Values), *i.Median},
		"stddev":     {"stddev", column(i.Values), stat.StdDev(i.Values, nil)},
		"cv":         {"cv", column(i.Values), *i.CV},
		"geomean":    {"geomean", column(i.Values), g.Value},
		"quantile":   {"quantile", column(i.Values, 0.9), q},
		"ci_low":     {"ci_low", column(i.Values, 0.99), *i.Low},
		"ci_high":    {"ci_high", column(i.Values, 0.99), *i.High},
		"ratio_low":  {"ratio_low", pairs(0.99), *row.Low},
		"ratio_high": {"ratio_high", pairs(0.99), *row.High},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := called(t, c.function, c.rows...)
			if err != nil || got != c.want {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
	low, err := called(t, "ratio_low", pairs()...)
	if wide := *row.Low; err != nil || !(low.(float64) > wide) {
		t.Errorf("at the default confidence %v, %v; at 99%% %v", low, err, wide)
	}
}

func TestSQLFunctionsOfBadData(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		function string
		rows     [][]any
		want     any
		err      string
	}{
		"integers":                {function: "mean", rows: [][]any{{int64(1)}, {int64(2)}}, want: 1.5},
		"NULL is left out":        {function: "mean", rows: [][]any{{1.0}, {nil}, {3.0}}, want: 2.0},
		"NULL alone":              {function: "median", rows: [][]any{{nil}}},
		"a text":                  {function: "mean", rows: [][]any{{"1"}}, err: "argument 1 is no number"},
		"infinite":                {function: "mean", rows: [][]any{{inf}}, err: ErrNotFinite.Error()},
		"geomean of zero":         {function: "geomean", rows: [][]any{{0.0}, {1.0}}},
		"geomean of one":          {function: "geomean", rows: [][]any{{2.0}}, want: 2.0},
		"stddev of one":           {function: "stddev", rows: [][]any{{2.0}}},
		"cv around zero":          {function: "cv", rows: [][]any{{-1.0}, {1.0}}},
		"interval of two":         {function: "ci_low", rows: [][]any{{1.0}, {2.0}}},
		"interval of constants":   {function: "ci_high", rows: [][]any{{2.0}, {2.0}, {2.0}}, want: 2.0},
		"q out of range":          {function: "quantile", rows: [][]any{{1.0, 2.0}}, err: "2: parameter out of range"},
		"q that changes":          {function: "quantile", rows: [][]any{{1.0, 0.5}, {1.0, 0.9}}, err: "0.5 in one row and 0.9 in another"},
		"q that is NULL":          {function: "quantile", rows: [][]any{{1.0, nil}}, err: "the last argument is NULL"},
		"confidence in percent":   {function: "ci_low", rows: [][]any{{1.0, int64(95)}}, err: "95: parameter out of range"},
		"ratio of two rounds":     {function: "ratio_low", rows: [][]any{{1.0, 2.0, int64(1)}, {1.1, 2.1, int64(2)}}},
		"ratio of constants":      {function: "ratio_low", rows: [][]any{{1.0, 2.0, int64(1)}, {1.0, 2.0, int64(2)}, {1.0, 2.0, int64(3)}}},
		"ratio to zero":           {function: "ratio_low", rows: [][]any{{1.0, 0.0, int64(1)}, {1.0, 2.0, int64(2)}, {1.1, 2.0, int64(3)}}},
		"a round twice":           {function: "ratio_low", rows: [][]any{{1.0, 2.0, int64(1)}, {1.1, 2.1, int64(1)}}, err: "round 1 is there twice"},
		"without a round":         {function: "ratio_high", rows: [][]any{{1.0, 2.0, nil}}, err: "without a round"},
		"the baseline is missing": {function: "ratio_high", rows: [][]any{{1.0, nil, int64(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := called(t, c.function, c.rows...)
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%v, %v, want %s", got, err, c.err)
			case c.err == "" && (err != nil || got != c.want):
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
	if _, err := called(t, "quantile", []any{1.0, 2.0}); !errors.Is(err, ErrBadParameter) {
		t.Errorf("%v", err)
	}
}

// Without rows there is no number, and no fault.
func TestSQLFunctionsWithoutRows(t *testing.T) {
	for _, f := range SQLFuncs() {
		if v, err := f.New().Done(); v != nil || err != nil {
			t.Errorf("%s of %d: %v, %v", f.Name, len(f.Args), v, err)
		}
	}
}
