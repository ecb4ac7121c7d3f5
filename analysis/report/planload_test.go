package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// A load that another generator drives is told in a sentence.
func TestPlanOfAnotherGenerator(t *testing.T) {
	text := experiment.Literal
	service := experiment.ServiceSpec{Image: text("k6:1"), Command: []experiment.Template{text("run"), text("/s.js")}}
	for _, tc := range []struct{ warmup, measure, within, reader, output, want string }{
		{"0s", "", "", "k6", "", "driven by k6:1 run /s.js, its output by the reader of k6, the window is all of its run"},
		{"2s", "", "1m", "k6", "", "driven by k6:1 run /s.js, its output by the reader of k6, warm-up 2s, then the window to its end, 1m at most in all"},
		{"2s", "5s", "", "", "/r", "driven by k6:1 run /s.js, values taken out of its output from /r, warm-up 2s, window 5s"},
	} {
		v := plan()
		s := service
		s.Output = tc.output
		v.Matrix.Load = experiment.LoadSpec{
			Warmup: experiment.WarmupSpec{For: text(tc.warmup)}, Measure: experiment.MeasureSpec{For: text(tc.measure)},
			External: &experiment.ExternalSpec{Service: s, Reader: tc.reader, Within: text(tc.within)},
		}
		var out bytes.Buffer
		if err := report.Plan(&out, v, report.Text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, "load: "+tc.want+" cores: ") {
			t.Errorf("got %s\nwant the load %s", got, tc.want)
		}
	}
}
