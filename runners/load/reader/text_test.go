package reader

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// wantValues compares metrics, to 3 digits.
func wantValues(t *testing.T, out experiment.LoadResult, want map[string]float64) {
	t.Helper()
	for metric, value := range want {
		got, told := observed(out, metric)
		if diff := got - value; !told || diff > value/1e3 || -diff > value/1e3 {
			t.Errorf("%s is %g (told: %v), want %g", metric, got, told, value)
		}
	}
}

// wantDone compares how many requests succeeded and failed.
func wantDone(t *testing.T, out experiment.LoadResult, ok, failed int64) {
	t.Helper()
	if out.Total.OK != ok || out.Total.Failed != failed {
		t.Errorf("%d requests succeeded and %d failed, want %d and %d", out.Total.OK, out.Total.Failed, ok, failed)
	}
}

// seeds gives fuzzing the real outputs of a tool.
func seeds(f *testing.F, of tool) {
	f.Helper()
	for _, pattern := range []string{"*", "more/*"} {
		files, err := filepath.Glob(filepath.Join("testdata", of.name, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && filepath.Base(file) != "ground-truth.json" {
				f.Add(data)
			}
		}
	}
}

// fuzzTool reads anything: it must not panic, and what is understood must be well formed.
func fuzzTool(f *testing.F, of tool) {
	f.Helper()
	seeds(f, of)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := of.ReadOutput(bytes.NewReader(data), experiment.Span{})
		if err != nil && !errors.Is(err, experiment.ErrIncomplete) {
			if len(err.Error()) > 2000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if out.Tool != "" {
			wellFormed(t, out)
		}
	})
}

// cutAnywhere reads a text cut at each line, and in its end at each byte: none is taken
// for whole that lacks what is written last.
func cutAnywhere(t *testing.T, of tool, file, last string) {
	t.Helper()
	text := reference(t, file)
	for n := 1; n < len(text); n++ {
		if n < len(text)-300 && text[n-1] != '\n' {
			continue
		}
		out, err := of.ReadOutput(strings.NewReader(text[:n]), experiment.Span{})
		if err == nil && !strings.Contains(text[:n], last) {
			t.Fatalf("%s, cut to %d bytes, is read: %+v", file, n, out.Observations)
		}
	}
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]float64{
		"669.39us": 669.39e-6, "2.74ms": 2.74e-3, "1.07s": 1.07, "1.20m": 72, "2h": 7200, "2.65s ": 2.65, "8µs": 8e-6,
	} {
		if got, ok := seconds(text); !ok || got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("%q is %g s (%v), want %g", text, got, ok, want)
		}
	}
	for text, want := range map[string]float64{"12B": 12, "1.50KB": 1536, "2MB": 2 << 20, "1GB": 1 << 30} {
		if got, ok := binary(text); !ok || got != want {
			t.Errorf("%q is %g B (%v), want %g", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "ms", "-1ms", "1e3s", "1 day", "0x1s", "NaNs", "5"} {
		if got, ok := seconds(text); ok {
			t.Errorf("%q is %g s", text, got)
		}
	}
}

func TestSlug(t *testing.T) {
	got := []string{}
	for _, text := range []string{"MSET (10 keys)", "PING_INLINE", "<builtin: select only>", "one.sql", "100 things", "(10)"} {
		got = append(got, slug(text))
	}
	want := []string{"MSET_10_keys", "PING_INLINE", "builtin_select_only", "one_sql", "things", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextTooLong(t *testing.T) {
	_, err := wrk().ReadOutput(strings.NewReader("Running 1s test @ http://a\n"+strings.Repeat("\n", maxText)), experiment.Span{})
	wantError(t, err, false, "longer than")
}
