package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// referenceCase is one case of testdata/*.json: values computed by R or SciPy.
type referenceCase struct {
	ID        string
	Method    string
	Input     values
	Expected  values
	Tolerance tolerance
	Note      string
}

type tolerance struct{ Rel, Abs float64 }

func (t tolerance) agree(got, want float64) bool {
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		return math.IsNaN(want) && math.IsNaN(got)
	case math.IsInf(want, 0):
		return got == want
	default:
		return math.Abs(got-want) <= t.Abs+t.Rel*math.Abs(want)
	}
}

// values is an object of a case: numbers, lists, texts. NaN and the infinities
// are texts.
type values map[string]any

func asNumber(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case string:
		switch v {
		case "NaN":
			return math.NaN()
		case "Infinity":
			return math.Inf(1)
		case "-Infinity":
			return math.Inf(-1)
		}
	}
	panic(fmt.Sprintf("%v is no number", v))
}

func asList(v any) []float64 {
	var out []float64
	for _, x := range v.([]any) {
		out = append(out, asNumber(x))
	}
	return out
}

func (v values) num(key string) float64    { return asNumber(v[key]) }
func (v values) list(key string) []float64 { return asList(v[key]) }
func (v values) confidence() float64       { return v.num("confidence") }

// table reads rows and gives columns.
func (v values) table(key string) [][]float64 {
	var columns [][]float64
	for _, row := range v[key].([]any) {
		for i, x := range asList(row) {
			if i == len(columns) {
				columns = append(columns, nil)
			}
			columns[i] = append(columns[i], x)
		}
	}
	return columns
}

func errorNamed(name string) error {
	return map[string]error{
		"ErrNoData": ErrNoData, "ErrTooFew": ErrTooFew, "ErrNotFinite": ErrNotFinite, "ErrNonPositive": ErrNonPositive,
		"ErrZeroVariance": ErrZeroVariance, "ErrLengthMismatch": ErrLengthMismatch,
		"ErrUnboundedRatio": ErrUnboundedRatio, "ErrBadParameter": ErrBadParameter,
	}[name]
}

// caseFolders are testdata and, where the environment names one, another of the same
// shape: case files at its top, whole sweeps below sweeps.
func caseFolders() []string {
	folders := []string{"testdata"}
	if more := os.Getenv("CETERIS_CASES"); more != "" {
		folders = append(folders, more)
	}
	return folders
}

// TestReferenceCases computes every case of every file. A case that the package does
// not compute stands in unused.txt with the reason.
func TestReferenceCases(t *testing.T) {
	unused := readUnused(t)
	computed := methods()
	maps.Copy(computed, planningMethods())
	maps.Copy(computed, shapeMethods())
	for _, folder := range caseFolders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no case files in %s: %v", folder, err)
		}
		for _, file := range files {
			var body struct{ Cases []referenceCase }
			readJSON(t, file, &body)
			for _, c := range body.Cases {
				t.Run(filepath.Base(folder)+"/"+strings.TrimSuffix(filepath.Base(file), ".json")+"/"+c.ID, func(t *testing.T) {
					checkCase(t, c, computed, unused)
				})
			}
		}
	}
	for name, touched := range unused {
		if !touched {
			t.Errorf("unused.txt names %s, which no case has", name)
		}
	}
}

// checkCase marks the entries of unused that it meets.
func checkCase(t *testing.T, c referenceCase, computed map[string]func(values) (values, error), unused map[string]bool) {
	t.Helper()
	if skip(unused, c.Method) || skip(unused, c.Method+":"+c.ID) {
		return
	}
	compute, ok := computed[c.Method]
	if !ok {
		t.Fatalf("no code and no reason for %s", c.Method)
	}
	got, err := compute(c.Input)
	for key, want := range c.Expected {
		if skip(unused, c.Method+"."+key) {
			continue
		}
		checkField(t, c, got, err, key, want)
	}
	if err != nil && c.Expected["error"] == nil {
		t.Errorf("unexpected error: %v", err)
	}
}

// skip reports whether unused has a name, and marks it as met.
func skip(unused map[string]bool, name string) bool {
	_, ok := unused[name]
	if ok {
		unused[name] = true
	}
	return ok
}

// toleranceOf is the case's own tolerance of a field. What is drawn by chance has its
// own: the case gives that of the limits of a bootstrap, beside what complete
// enumeration gives; its bias and the levels that follow are within four standard
// deviations of the share of resamples that lie below the value.
func (c referenceCase) toleranceOf(key string) tolerance {
	resamples, drawn := c.Input["resamples"].(float64)
	if !drawn {
		return c.Tolerance
	}
	kind, _, _ := strings.Cut(key, "_")
	if limit, ok := c.Expected["mc_tolerance_"+kind]; ok {
		return tolerance{Abs: asNumber(limit)}
	}
	deviate := 4 * 0.5 / math.Sqrt(resamples) * math.Sqrt(2*math.Pi)
	switch kind {
	case "z0":
		return tolerance{Abs: deviate}
	case "alpha":
		// The level is Phi(2 z0 + z), with z of the nominal level, but for the acceleration.
		z := normalQuantile(c.Expected.num(key))
		return tolerance{Abs: 1.5 * 2 * deviate * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)}
	default:
		return c.Tolerance
	}
}

func checkField(t *testing.T, c referenceCase, got values, err error, key string, want any) {
	t.Helper()
	if strings.HasPrefix(key, "mc_tolerance_") {
		return // of other fields
	}
	if key == "error" {
		if sentinel := errorNamed(want.(string)); sentinel == nil || !errors.Is(err, sentinel) {
			t.Errorf("error: got %v, want %v", err, want)
		}
		return
	}
	if want == nil {
		if v, ok := got[key].(float64); ok && !math.IsNaN(v) {
			t.Errorf("%s: got %v, want none", key, v)
		}
		return
	}
	have, ok := got[key]
	if !ok {
		t.Errorf("%s is neither computed nor listed in unused.txt", key)
		return
	}
	switch want := want.(type) {
	case bool:
		if have != want {
			t.Errorf("%s: got %v, want %v", key, have, want)
		}
	case []any:
		checkList(t, c, key, have, want)
	case string:
		if f, isNumber := have.(float64); isNumber {
			have = map[bool]string{true: "NaN", false: fmt.Sprint(f)}[math.IsNaN(f)]
		}
		if fmt.Sprint(have) != want {
			t.Errorf("%s: got %v, want %v", key, have, want)
		}
	default:
		if g, w := asNumber(have), asNumber(want); !c.toleranceOf(key).agree(g, w) {
			t.Errorf("%s: got %.17g, want %.17g", key, g, w)
		}
	}
}

func checkList(t *testing.T, c referenceCase, key string, have any, want []any) {
	t.Helper()
	if rows, ok := have.([][]float64); ok {
		if len(rows) != len(want) {
			t.Fatalf("%s: got %d rows, want %d", key, len(rows), len(want))
		}
		for i := range rows {
			checkList(t, c, fmt.Sprintf("%s[%d]", key, i), rows[i], want[i].([]any))
		}
		return
	}
	got := have.([]float64)
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", key, got, want)
	}
	for i, w := range asList(want) {
		if !c.Tolerance.agree(got[i], w) {
			t.Errorf("%s[%d]: got %.17g, want %.17g", key, i, got[i], w)
		}
	}
}

// readUnused gives the names in unused.txt, none of them met yet.
func readUnused(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("testdata/unused.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case len(fields) == 1:
			t.Errorf("unused.txt: %s has no reason", fields[0])
		default:
			out[fields[0]] = false
		}
	}
	return out
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
