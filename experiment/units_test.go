package experiment

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestUnits reads texts of every unit: to the base unit, or to a message that
// begins with the quoted text.
func TestUnits(t *testing.T) {
	duration := func(s string) (float64, error) { d, err := ParseDuration(s); return d.Seconds(), err }
	size := func(s string) (float64, error) { n, err := ParseSize(s); return float64(n), err }
	port := func(s string) (float64, error) { n, err := ParsePort(s); return float64(n), err }
	count := func(s string) (float64, error) { n, err := ParseCount(s, 1, 100); return float64(n), err }
	for _, c := range []struct {
		kind  string
		parse func(string) (float64, error)
		text  string
		want  float64 // or
		fault string
	}{
		{"duration", duration, "200us", 200e-6, ""},
		{"duration", duration, "1m30s", 90, ""},
		{"duration", duration, "0", 0, ""},
		{"duration", duration, "168h", (7 * 24 * time.Hour).Seconds(), ""},
		{"duration", duration, "169h", 0, "is longer than 7 days"},
		{"duration", duration, "10000000h", 0, "is longer than 7 days"},
		{"duration", duration, "9.5h99999999999999999999ms", 0, "is longer than 7 days"},
		{"duration", duration, "-10000000h", 0, "is negative"},
		{"duration", duration, "10000000d", 0, "is no duration (as in 200us, 2ms, 5s, 10m)"},
		{"duration", duration, "-1s", 0, "is negative"},
		{"duration", duration, "5", 0, "has no unit (as in 5s or 5ms)"},
		{"duration", duration, "", 0, "is no duration (as in 200us, 2ms, 5s, 10m)"},
		{"duration", duration, "5 s", 0, "is no duration (as in 200us, 2ms, 5s, 10m)"},
		{"duration", duration, "1d", 0, "is no duration (as in 200us, 2ms, 5s, 10m)"},
		{"duration", duration, "1e400h", 0, "is no duration (as in 200us, 2ms, 5s, 10m)"},
		{"size", size, "256MiB", 256 << 20, ""},
		{"size", size, "1.5 kB", 1500, ""},
		{"size", size, "7B", 7, ""},
		{"size", size, "512", 0, "has no unit (as in 512MiB)"},
		{"size", size, "1mb", 0, `: unknown unit "mb" (B, kB, MB, GB, KiB, MiB, GiB)`},
		{"size", size, "-1MiB", 0, "is no size (as in 256MiB, 1GB)"},
		{"size", size, "9999TiB", 0, "is larger than 1 PiB"},
		{"size", size, strings.Repeat("9", 400) + "B", 0, "is larger than 1 PiB"},
		{"fraction", ParseFraction, "3%", 0.03, ""},
		{"fraction", ParseFraction, "0.03", 0.03, ""},
		{"fraction", ParseFraction, "100%", 1, ""},
		{"fraction", ParseFraction, "101%", 0, "lies outside 0% to 100%"},
		{"fraction", ParseFraction, "1e999%", 0, "lies outside 0% to 100%"},
		{"fraction", ParseFraction, "-0.1", 0, "lies outside 0% to 100%"},
		{"fraction", ParseFraction, "NaN", 0, "is no share (as in 3% or 0.03)"},
		{"fraction", ParseFraction, "Inf", 0, "lies outside 0% to 100%"},
		{"rate", ParseRate, "400/s", 400, ""},
		{"rate", ParseRate, "30/m", 0.5, ""},
		{"rate", ParseRate, "400", 0, "has no unit (as in 400/s)"},
		{"rate", ParseRate, "400/h", 0, `: unknown unit "h" (1/s or 1/m)`},
		{"rate", ParseRate, "0/s", 0, "must be above 0"},
		{"rate", ParseRate, "NaN/s", 0, "is no rate (as in 400/s)"},
		{"rate", ParseRate, "-1/m", 0, "must be above 0"},
		{"rate", ParseRate, "1e7/s", 1e7, ""},
		{"rate", ParseRate, "10000001/s", 0, "is above 10,000,000/s"},
		{"rate", ParseRate, "1e999/s", 0, "is above 10,000,000/s"},
		{"rate", ParseRate, "Inf/s", 0, "is above 10,000,000/s"},
		{"rate", ParseRate, "80%", 0, ": a rate as a share of a cell's own ceiling is refused: the cells would do different work"},
		{"cpus", ParseCPUs, "0.5", 0.5, ""},
		{"cpus", ParseCPUs, "0", 0, "lies outside 0.01 to 1024 processors"},
		{"cpus", ParseCPUs, "two", 0, "is no number of processors (as in 1 or 0.5)"},
		{"cpus", ParseCPUs, "nan", 0, "is no number of processors (as in 1 or 0.5)"},
		{"port", port, "65535", 65535, ""},
		{"port", port, "0", 0, "is no port (1 to 65535)"},
		{"port", port, "65536", 0, "is no port (1 to 65535)"},
		{"count", count, "100", 100, ""},
		{"count", count, "101", 0, "lies outside 1 to 100"},
		{"count", count, "99999999999999999999", 0, "lies outside 1 to 100"},
		{"count", count, "-99999999999999999999", 0, "lies outside 1 to 100"},
		{"count", count, "1.0", 0, "is no whole number"},
	} {
		t.Run(c.kind+" "+c.text[:min(len(c.text), 12)], func(t *testing.T) {
			got, err := c.parse(c.text)
			if c.fault == "" {
				if err != nil || math.Abs(got-c.want) > 1e-12 {
					t.Errorf("got %v, %v; want %v", got, err, c.want)
				}
				return
			}
			rest, ok := strings.CutPrefix(errText(err), `"`+c.text+`"`)
			if !ok || strings.TrimPrefix(rest, " ") != c.fault {
				t.Errorf("got error %q, want the text and %q", errText(err), c.fault)
			}
			if got != 0 {
				t.Errorf("got %v beside the error", got)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestMaxima: the largest of a distribution is compared as its quantiles are, but
// needs no number of requests.
func TestMaxima(t *testing.T) {
	for prefix := range quantilePrefixes() {
		got, known := MetricByName(prefix + "max")
		if prefix == latenessPrefix {
			if known {
				t.Errorf("%s is known, though no generator gives it", got.Name)
			}
			continue
		}
		want, _ := MetricByName(prefix + "p99")
		want.Name, want.Q, want.Help = got.Name, 0, got.Help
		if !known || got != want {
			t.Errorf("got %+v (known: %v), want %+v", got, known, want)
		}
	}
}
