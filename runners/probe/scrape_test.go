package probe

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

const metricsPage = `# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{code="200",path="/a"} 10
http_requests_total{code="200",path="/b"} 5
http_requests_total{code="500",path="/a"} 1
# TYPE pool_active gauge
pool_active{pool="a \"x\""} 3
pool_active{pool="b"} NaN
plain 7
# TYPE took_seconds histogram
took_seconds_bucket{le="0.1"} 4
took_seconds_bucket{le="+Inf"} 6
took_seconds_sum 1.5
took_seconds_count 6
# TYPE gc_seconds summary
gc_seconds{quantile="0.5"} 0.01
gc_seconds{quantile="0.99"} 0.2
gc_seconds_sum 2
gc_seconds_count 9`

func TestSelectors(t *testing.T) {
	p, err := readPage(strings.NewReader(metricsPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		selector string
		want     float64
		counter  bool
	}{
		{"http_requests_total", 16, true},
		{`http_requests_total{code="200"}`, 15, true},
		{`http_requests_total{ code = "200", path="/b" }`, 5, true},
		{`pool_active{pool="a \"x\""}`, 3, false},
		{"pool_active", 3, false}, // NaN is no value
		{"plain", 7, false},
		{"took_seconds_count", 6, true},
		{"took_seconds_sum", 1.5, true},
		{`took_seconds_bucket{le="0.1"}`, 4, true},
		{`took_seconds_bucket{le="+Inf"}`, 6, true},
		{`gc_seconds{quantile="0.99"}`, 0.2, false},
		{"gc_seconds_count", 9, true},
	} {
		s, err := parseSelector(tc.selector)
		if err != nil {
			t.Fatal(err)
		}
		got, counter, err := s.sum(p)
		if got != tc.want || counter != tc.counter || err != nil {
			t.Errorf("%s: got %v, counter %v, %v; want %v, counter %v", tc.selector, got, counter, err, tc.want, tc.counter)
		}
	}
	for _, none := range []string{"absent", `plain{a="b"}`, `pool_active{pool="b"}`, "took_seconds_bucket", `gc_seconds{quantile="0.7"}`} {
		s, err := parseSelector(none)
		if err != nil {
			t.Fatal(err)
		}
		if v, _, err := s.sum(p); !errors.Is(err, errNoSeries) {
			t.Errorf("%s: got %v, %v; want no series", none, v, err)
		}
	}
}

func TestSelectorFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":          `"" is no selector (as in http_requests_total{code="200"})`,
		"a b":       `"a b" is no selector (as in http_requests_total{code="200"})`,
		"a{b=c}":    `"a{b=c}": "b=c" is no label="value"`,
		`a{b="c" d`: `"a{b=\"c\" d" is no selector (as in http_requests_total{code="200"})`,
		`a{b="\q"}`: `"a{b=\"\\q\"}": the value of b: invalid syntax`,
	} {
		if _, err := parseSelector(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestScrape: polls by the clock from the warm-up on, and once more at each end of
// the window.
func TestScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []string
		get := func(r *http.Request) (*http.Response, error) {
			at := time.Since(began)
			asked = append(asked, fmt.Sprintf("%v %s", at, r.URL))
			if at > 3200*time.Millisecond && at < 4700*time.Millisecond {
				return nil, errors.New("connection refused")
			}
			s := at.Seconds()
			body := fmt.Sprintf("# TYPE done counter\ndone %v\nheld{a=\"1\"} %v\nheld{a=\"2\"} 1\n", 100*s, s)
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
		}
		s, err := scrapeProbe{get}.Start(t.Context(), experiment.ProbeTarget{Pages: []experiment.ScrapePage{{
			Service: "app", Addrs: []string{"app:9"}, Path: "/metrics",
			Scrape: experiment.Scrape{URL: experiment.Literal(":9/metrics"), Every: time.Second, Metrics: []experiment.ScrapeMetric{
				{Name: "requests", Selector: "done"}, {Name: "held", Selector: "held", Unit: experiment.UnitBytes}, {Name: "none", Selector: "absent"},
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct {
			phase experiment.Phase
			after time.Duration
		}{
			{experiment.PhaseRamp, 500 * time.Millisecond},
			{experiment.PhaseWarmup, 2 * time.Second},
			{experiment.PhaseMeasure, 2250 * time.Millisecond},
			{experiment.PhaseDrain, time.Second},
			{experiment.PhaseDone, time.Second},
		} {
			synctest.Wait()
			if err := s.Mark(m.phase); err != nil {
				t.Fatal(err)
			}
			time.Sleep(m.after)
		}
		got, series, err := s.Stop(t.Context())
		if want := "scrape app.none: no series of the page matches absent"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		// The warm-up begins at 0.5 s, the window at 2.5 s; it ends at 4.75 s.
		want := []experiment.Observation{
			{Metric: "app.requests", Phase: experiment.PhaseMeasure, Value: 225, Unit: experiment.UnitCount},
			{Metric: "app.held", Phase: experiment.PhaseMeasure, Value: 1 + (2.5+2.5+4.75)/3, Unit: experiment.UnitBytes},
		}
		if diff := cmp.Diff(got, want, closely); diff != "" {
			t.Errorf("observed (-got +want):\n%s", diff)
		}
		failed := map[int64]float64{} // the poll at 2.5 s and that of the window's begin are two
		for _, p := range series {
			if page, ok := experiment.ScrapedPage(p.Metric); ok && p.Service == "app" && page == ":9/metrics" {
				failed[p.AtMS] = p.Value
			}
		}
		if diff := cmp.Diff(failed, map[int64]float64{-2000: 0, -1000: 0, 0: 0, 1: 0, 1000: 1, 2000: 1, 2250: 0}); diff != "" {
			t.Errorf("polls (-got +want):\n%s\nasked: %v", diff, asked)
		}
	})
}

// TestScrapeWithoutEnds: a counter that was not read at an end of the window has no
// growth; a run that never came to its window has nothing.
func TestScrapeWithoutEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		get := func(*http.Request) (*http.Response, error) {
			if time.Since(began) > 2*time.Second {
				return nil, errors.New("connection refused")
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("# TYPE done counter\ndone 1\n"))}, nil
		}
		page := experiment.ScrapePage{Service: "app", Addrs: []string{"app:9"}, Scrape: experiment.Scrape{Metrics: []experiment.ScrapeMetric{{Name: "done", Selector: "done"}}}}
		start := func() experiment.Sampling {
			s, err := scrapeProbe{get}.Start(t.Context(), experiment.ProbeTarget{Pages: []experiment.ScrapePage{page}})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := start()
		if err := s.Mark(experiment.PhaseMeasure); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := s.Mark(experiment.PhaseDrain); err != nil {
			t.Fatal(err)
		}
		got, _, err := s.Stop(t.Context())
		if len(got) > 0 || err == nil || err.Error() != "scrape app.done: it was not read at both ends of the window" {
			t.Errorf("got %v, %v", got, err)
		}
		s = start()
		if err := s.Mark(experiment.PhaseWarmup); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Stop(t.Context()); !errors.Is(err, ErrWindow) {
			t.Errorf("without a window: got %v", err)
		}
	})
}
