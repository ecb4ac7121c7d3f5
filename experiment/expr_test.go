package experiment

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exprEnv() ExprEnv {
	return ExprEnv{
		Value: func(name string) (float64, bool) {
			v, ok := map[string]float64{
				"a": 6, "b": 3, "zero": 0, "app.cpu": 0.5, "web-api.cpu": 2, "spike:throughput": 90,
				"throughput{search}": 70, "latency_p99": 0.2, "latency_p50": 0.1,
			}[name]
			return v, ok
		},
		Series: func(name string) []SeriesPoint {
			switch name {
			case "app.gc":
				return []SeriesPoint{{AtMS: 0, Value: 10}, {AtMS: 1000, Value: 40}, {AtMS: 2000, Value: 30}}
			case "one":
				return []SeriesPoint{{AtMS: 500, Value: 7}}
			case "flat":
				return []SeriesPoint{{AtMS: 5, Value: 1}, {AtMS: 5, Value: 2}}
			}
			return nil
		},
	}
}

func TestExpr(t *testing.T) {
	for _, tc := range []struct {
		text  string
		want  float64
		names []string
	}{
		{"1.5e2", 150, nil},
		{"a + b * 2", 12, []string{"a", "b"}},
		{"(a + b) * 2", 18, []string{"a", "b"}},
		{"a - b - 1", 2, []string{"a", "b"}},
		{"a / b / 2", 1, []string{"a", "b"}},
		{"-a + -(-b)", -3, []string{"a", "b"}},
		{"a-1", 5, []string{"a"}},
		{"latency_p99-latency_p50", 0.1, []string{"latency_p50", "latency_p99"}},
		{"web-api.cpu - app.cpu", 1.5, []string{"app.cpu", "web-api.cpu"}},
		{"spike:throughput / throughput{search} * 7", 9, []string{"spike:throughput", "throughput{search}"}},
		{"delta(app.gc)", 20, []string{"app.gc"}},
		{"max( app.gc ) + last(app.gc)", 70, []string{"app.gc"}},
		{"mean(app.gc)", 80.0 / 3, []string{"app.gc"}},
		{"slope(app.gc)", 10, []string{"app.gc"}},
		{"last(one)", 7, []string{"one"}},
	} {
		t.Run(tc.text, func(t *testing.T) {
			e, err := ParseExpr(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Eval(exprEnv())
			if err != nil || math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("got %v, %v; want %v", got, err, tc.want)
			}
			if diff := cmp.Diff(e.Names(), tc.names); diff != "" {
				t.Errorf("names (-got +want):\n%s", diff)
			}
		})
	}
}

func TestExprUndefined(t *testing.T) {
	for text, want := range map[string]string{
		"a / zero":             "it divides by zero: has no value",
		"a + c":                "c is absent: has no value",
		"web-api":              "web-api is absent: has no value",
		"delta(one)":           "delta(one): the window holds 1 values of it: has no value",
		"mean(a)":              "mean(a): the window holds 0 values of it: has no value",
		"slope(flat)":          "slope(flat): all values are of one moment: has no value",
		"1e300 * 1e300 * zero": "the result is no finite number: has no value",
	} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Eval(exprEnv()); err == nil || err.Error() != want || !errors.Is(err, ErrUndefined) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestExprFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "at byte 0: a number, a name or a parenthesis is missing",
		"a +":                    "at byte 3: a number, a name or a parenthesis is missing",
		"a b":                    `at byte 2: "b" is not expected here`,
		"a % b":                  `at byte 2: "% b" is not expected here`,
		"* a":                    `at byte 0: "* a" is neither number, name nor parenthesis`,
		"(a":                     "at byte 2: a closing parenthesis is missing",
		"min(a)":                 "at byte 0: min is no function (known: delta, max, mean, last, slope)",
		"max(a + b)":             "at byte 6: a closing parenthesis is missing",
		"max(1)":                 "at byte 4: max wants the name of a metric",
		"1.2.3":                  `at byte 0: "1.2.3" is no number`,
		"2x":                     `at byte 0: "2x" is no number`,
		"throughput{a":           `at byte 0: "throughput{a": the brace is not closed`,
		strings.Repeat("-", 200): "at byte 100: it is nested deeper than 100",
	} {
		_, err := ParseExpr(text)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// FuzzExpr: whatever is read has a value or is undefined, and offsets lie in the text.
func FuzzExpr(f *testing.F) {
	for _, text := range []string{"delta(a) / delta(b)", "(a-b) * -2e3", "web-api.cpu - a{b}", "1/0", "((((", "max(x)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpr(text)
		var fault *ExprError
		if err != nil {
			if !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(text) {
				t.Fatalf("%q: got %v", text, err)
			}
			return
		}
		for _, n := range e.Names() {
			if n == "" || !strings.Contains(text, n) {
				t.Errorf("%q: name %q", text, n)
			}
		}
		if v, err := e.Eval(exprEnv()); err != nil && !errors.Is(err, ErrUndefined) || err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			t.Errorf("%q: got %v, %v", text, v, err)
		}
	})
}
