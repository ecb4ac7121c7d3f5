package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// truth is what the target of a reference run counted.
type truth struct {
	Files        []string         `json:"files"`
	FilesLeft    map[string]int64 `json:"files_left"` // by a killed tool
	Requests     int64            `json:"requests_seen"`
	Bodies       int64            `json:"body_bytes_sent"`
	Connections  int64            `json:"connections_accepted"` // one of them a probe of readiness
	Statuses     map[string]int64 `json:"responses_by_status"`
	FirstArrival int64            `json:"first_arrival_unix_ns"`
	LastArrival  int64            `json:"last_arrival_unix_ns"`
}

// held is how many requests the target kept past the client's timeout.
const held = "held_until_client_left"

// status is the count of those answered with a status.
func (r truth) status() map[string]int64 {
	out := map[string]int64{}
	for code, n := range r.Statuses {
		if code != held {
			out[code] = n
		}
	}
	return out
}

// truthOf gives what the target counted in the run that wrote a file of testdata.
func truthOf(t *testing.T, file string) truth {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.Dir(file), "ground-truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []truth
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		_, left := run.FilesLeft[filepath.Base(file)]
		if left || slices.Contains(run.Files, filepath.Base(file)) {
			return run
		}
	}
	t.Fatalf("no run wrote %s", file)
	return truth{}
}

// reference gives a file of testdata.
func reference(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mustRead reads what a tool wrote in a run that ended.
func mustRead(t *testing.T, of tool, text string, span experiment.Span) experiment.LoadResult {
	t.Helper()
	out, err := of.ReadOutput(strings.NewReader(text), span)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// observed gives a metric, and whether it was told.
func observed(out experiment.LoadResult, metric string) (float64, bool) {
	for _, o := range out.Observations {
		if o.Metric == metric {
			return o.Value, true
		}
	}
	return 0, false
}

// unknownWhy gives why a metric is unknown; empty where it is not.
func unknownWhy(out experiment.LoadResult, metric string) string {
	for _, u := range out.Unknown {
		if u.Metric == metric {
			return u.Why
		}
	}
	return ""
}

// wantNote wants a note that holds a text.
func wantNote(t *testing.T, out experiment.LoadResult, severity experiment.Severity, text string) {
	t.Helper()
	if !slices.ContainsFunc(out.Notes, func(n experiment.LoadNote) bool { return n.Severity == severity && strings.Contains(n.Text, text) }) {
		t.Errorf("no %s with %q in %q", severity, text, out.Notes)
	}
}

// wantUnknown wants a metric to be unknown for a reason that holds a text.
func wantUnknown(t *testing.T, out experiment.LoadResult, metric, text string) {
	t.Helper()
	if v, told := observed(out, metric); told {
		t.Errorf("%s is %g, and should be unknown", metric, v)
	}
	if why := unknownWhy(out, metric); !strings.Contains(why, text) {
		t.Errorf("%s is unknown because %q, without %q", metric, why, text)
	}
}

// wantMixed wants response times to be no metrics for the failures in them, and a warning
// to hold their numbers.
func wantMixed(t *testing.T, out experiment.LoadResult, numbers map[string]float64) {
	t.Helper()
	for metric, value := range numbers {
		wantUnknown(t, out, metric, "the times of failures are mixed in")
		wantNote(t, out, experiment.SeverityWarn, fmt.Sprintf("%s %.4g s", metric, value))
	}
}

// wantError wants an error with a text, and to know whether it tells of cut-off output.
func wantError(t *testing.T, err error, cut bool, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) || errors.Is(err, experiment.ErrIncomplete) != cut {
		t.Errorf("error %v, want %q (incomplete: %v)", err, text, cut)
	}
}

// wellFormed checks what holds of any result: each metric of a load is told or unknown
// with a reason, never both, in its base unit and never negative; counts add up.
func wellFormed(t *testing.T, out experiment.LoadResult) {
	t.Helper()
	for _, name := range metrics() {
		_, told := observed(out, name)
		if why := unknownWhy(out, name); told == (why != "") {
			t.Errorf("%s: told %v, unknown because %q", name, told, why)
		}
	}
	for _, o := range out.Observations {
		m, known := experiment.MetricByName(o.Metric)
		if !known || o.Unit != m.Unit || !(o.Value >= 0) || o.Phase != experiment.PhaseMeasure {
			t.Errorf("%+v", o)
		}
	}
	if total := out.Total; total.Offered != total.Sent+total.Dropped+total.Waiting || total.OK < 0 || total.Failed < 0 {
		t.Errorf("%+v", total)
	}
}
