package reader

import (
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The files are written as net.grinder.SingleConsole writes them: none is of a real run.
func TestNGrinder(t *testing.T) {
	for name, file := range map[string]string{"current": "ngrinder/output.csv", "older, without vuser": "ngrinder/older.csv"} {
		t.Run(name, func(t *testing.T) {
			out := mustRead(t, ngrinder(), reference(t, file), experiment.Span{})
			wellFormed(t, out)
			// Tests and TPS are successes alone.
			wantDone(t, out, 400, 3)
			wantValues(t, out, map[string]float64{"throughput": 400.0 / 6, "requests_done": 403, "error_rate": 3.0 / 403})
			wantNote(t, out, experiment.SeverityWarn, "2 of its 6 rows hold zeroes alone")
			wantNote(t, out, experiment.SeverityNote, "the mean time of its successes is 0.00495 s")
			wantUnknown(t, out, "service_time_p99", "means, and no quantiles")
			if out.Window != 6*time.Second || len(out.Series) != 12 || !out.Begin.IsZero() {
				t.Errorf("a window of %s from %s, %d points", out.Window, out.Begin, len(out.Series))
			}
		})
	}
	out := mustRead(t, ngrinder(), reference(t, "ngrinder/output.csv"), experiment.Span{Begin: time.Unix(1, 0)})
	wantNote(t, out, experiment.SeverityWarn, "virtual users were from 5 to 10")
	wantNote(t, out, experiment.SeverityWarn, "no time zone")
}

func TestNGrinderTests(t *testing.T) {
	text := reference(t, "ngrinder/tests-semicolon.csv")
	for name, comma := range map[string]string{"semicolon": ";", "tab": "\t", "comma": ","} {
		t.Run(name, func(t *testing.T) {
			out := mustRead(t, ngrinder(), strings.ReplaceAll(text, ";", comma), experiment.Span{})
			wellFormed(t, out)
			wantDone(t, out, 300, 3)
			wantValues(t, out, map[string]float64{
				"throughput": 100, "throughput{home}": 60, "throughput{items}": 40, "requests_done{home}": 182, "error_rate{items}": 1.0 / 121,
			})
		})
	}
	t.Run("a description with the separator", func(t *testing.T) {
		out := mustRead(t, ngrinder(), strings.ReplaceAll(text, "home", "home;start"), experiment.Span{})
		wantNote(t, out, experiment.SeverityNote, "holds the separator")
		wantDone(t, out, 300, 3)
		if len(out.Requests) != 0 {
			t.Errorf("tests are told apart: %v", out.Requests)
		}
	})
	t.Run("a description that is no name", func(t *testing.T) {
		out := mustRead(t, ngrinder(), strings.ReplaceAll(text, "home", "GET /"), experiment.Span{})
		wantNote(t, out, experiment.SeverityNote, `"GET /" is no name`)
	})
}

func TestNGrinderRefuses(t *testing.T) {
	const head = "DateTime,Tests,Errors\n"
	for name, c := range map[string]struct {
		text string
		cut  bool
		want string
	}{
		"cut inside a row":  {head + "2026-11-30 16:20:01,9,0\n2026-11-30 16:20:02,9,0\n2026-11-30 16:20:03,9", true, "line 4"},
		"a header alone":    {head, true, "no interval"},
		"half a header":     {"DateTime,Te", true, "first line"},
		"no errors":         {"DateTime,Tests\n", false, "Errors"},
		"fewer fields":      {head + "2026-11-30 16:20:01,9\n", false, "line 2: 2 fields"},
		"more fields":       {head + "2026-11-30 16:20:01,9,0,1\n", false, "line 2: 4 fields"},
		"another time":      {head + "30.11.2026,9,0\n", false, "DateTime is"},
		"no number":         {head + "2026-11-30 16:20:01,NaN,0\n", false, "Tests is"},
		"one row, no rates": {head + "2026-11-30 16:20:01,9,0\n", false, "length of its intervals"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ngrinder().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
	out, err := ngrinder().ReadOutput(strings.NewReader(head+"2026-11-30 16:20:01,9,0\n2026-11-30 16:20:02,9,0\n2026"), experiment.Span{})
	wantError(t, err, true, "line 4")
	wantDone(t, out, 18, 0)
	out = mustRead(t, ngrinder(), head+"2026-11-30 16:20:01,9,0\n2026-11-30 16:20:02,9,0\n2026-11-30 16:20:20,9,0\n", experiment.Span{})
	wantNote(t, out, experiment.SeverityWarn, "some are missing")
}

func FuzzNGrinder(f *testing.F) { fuzzTool(f, ngrinder()) }
