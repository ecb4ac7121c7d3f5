package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// TestDeclaredMetricsAreColumns: a metric that the matrix makes is shown before those that
// it merely collects.
func TestDeclaredMetricsAreColumns(t *testing.T) {
	r := sample()
	r.Sweep.Declared = []experiment.Metric{{Name: "app.pauses", Unit: experiment.UnitCount}, {Name: "pause_share", Unit: experiment.UnitRatio}}
	for _, c := range r.Sweep.Cells {
		for _, m := range r.Sweep.Declared {
			r.Results.Intervals = append(r.Results.Intervals, experiment.Interval{Cell: c.Key, Metric: m.Name, Unit: m.Unit, N: 3, Estimate: new(0.25)})
		}
	}
	for _, tc := range []struct {
		width int
		share bool
		all   bool
	}{{200, true, true}, {110, true, false}} {
		r.Options.Width = tc.width
		var b bytes.Buffer
		if err := report.Comparison(&b, r, report.Text); err != nil {
			t.Fatal(err)
		}
		var head string
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "cell ") {
				head = line
				break
			}
		}
		if strings.Contains(head, "pause_share") != tc.share || strings.Contains(head, "app.pauses") != tc.all {
			t.Errorf("at %d columns: %s", tc.width, head)
		}
	}
}
