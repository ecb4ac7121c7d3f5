package reader

import (
	"fmt"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Ten users have a request of 1 s each under way all the time. Whatever part of it is the
// window, ten responses a second come in it: those to requests that began before it, too.
func TestRowsWindow(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, offset := range []time.Duration{0, time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond} {
		t.Run(offset.String(), func(t *testing.T) {
			begin := start.Add(5*time.Second + offset)
			r := rows{span: experiment.Span{Begin: begin, End: begin.Add(10 * time.Second)}}
			for user := range 10 {
				for second := range 30 {
					one := row{begin: start.Add(time.Duration(second) * time.Second), took: time.Second, status: 200, request: fmt.Sprintf("r%d", user%2)}
					if user == 9 {
						one.status, one.failure = 500, experiment.FailureStatus
					}
					r.add(one)
				}
			}
			out := newResult("tool", "rows")
			if err := r.into(out); err != nil {
				t.Fatal(err)
			}
			for metric, want := range map[string]float64{
				"throughput": 9, "requests_done": 100, "error_rate": 0.1, "in_flight": 10, "sent": 10,
				"throughput{r0}": 5, "throughput{r1}": 4, "in_flight{r0}": 5, "error_rate{r1}": 0.2,
			} {
				if v, known := observed(out.LoadResult, metric); !known || v < want-1e-9 || v > want+1e-9 {
					t.Errorf("%s is %g, %v, and %g is wanted", metric, v, known, want)
				}
			}
			if out.Statuses["200"] != 90 || out.Statuses["500"] != 10 || out.Errors[experiment.FailureStatus] != 10 || out.Total.Sent != 100 {
				t.Errorf("statuses %v, errors %v, %d sent", out.Statuses, out.Errors, out.Total.Sent)
			}
			done := 0.0
			for _, p := range out.Series {
				if p.Metric == "done" {
					done += p.Value
				}
			}
			if done != 100 {
				t.Errorf("the slices have %g done", done)
			}
		})
	}
}

// More requests than memory should be spent on are refused, and not told of in part.
func TestRowsTooMany(t *testing.T) {
	r := rows{list: make([]row, maxRows-1)}
	r.add(row{})
	if r.over {
		t.Errorf("%d requests are too many", maxRows)
	}
	r.add(row{})
	wantError(t, r.into(newResult("tool", "rows")), false, "more than 5000000 requests")
}
