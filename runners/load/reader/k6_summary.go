package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// k6Summary is what k6 reduced: the values of its metrics, times in milliseconds.
type k6Summary struct {
	format  string
	seconds float64 // of the run; 0 where only the metrics tell
	open    bool    // all executors are known to be open
	rounded bool    // as text is
	metrics map[string]map[string]float64
}

// k6Expected is the metric of successes, which k6 keeps by itself.
const k6Expected = "http_req_duration{expected_response:true}"

// k6JSONSummary reads --summary-export, or the data of handleSummary: the values of a
// metric stand in it, or one deeper.
func k6JSONSummary(data []byte, span experiment.Span) (*result, error) {
	var v struct {
		Metrics map[string]map[string]any `json:"metrics"`
		Results json.RawMessage           `json:"results"`
		State   struct {
			Milliseconds float64 `json:"testRunDurationMs"`
		} `json:"state"`
	}
	err := json.Unmarshal(data, &v)
	switch {
	case err != nil && cutJSON(data, err):
		return nil, incomplete("the summary is cut off")
	case err != nil:
		return nil, fmt.Errorf("it is no summary of k6: %s", quoteError(err))
	case v.Results != nil:
		return nil, errors.New("it is k6's new machine-readable summary, which is not read: run k6 with --new-machine-readable-summary=false, or give samples (--out csv or json)")
	}
	s := k6Summary{format: "summary-export", seconds: v.State.Milliseconds / 1000, metrics: map[string]map[string]float64{}}
	for name, fields := range v.Metrics {
		if deeper, ok := fields["values"].(map[string]any); ok {
			fields, s.format = deeper, "handle-summary"
		}
		values := map[string]float64{}
		for stat, value := range fields {
			if n, ok := value.(float64); ok {
				values[stat] = n
			}
		}
		s.metrics[name] = values
	}
	return s.result(span)
}

// count gives a number of things.
func (s k6Summary) count(metric, stat string) (int64, bool) {
	v, ok := s.metrics[metric][stat]
	if !ok || v < 0 || v > 1<<53 || v != math.Trunc(v) {
		return 0, false
	}
	return int64(v), true
}

// result tells what follows from a summary.
func (s k6Summary) result(span experiment.Span) (*result, error) {
	requests, ok := s.count("http_reqs", "count")
	if !ok || requests == 0 {
		return nil, errors.New("it has no http_reqs: k6 sent no request over HTTP")
	}
	out := newResult("k6", s.format)
	seconds := s.seconds
	if seconds == 0 {
		seconds = float64(requests) / s.metrics["http_reqs"]["rate"]
	}
	if !(seconds > 0 && seconds < 1e9) {
		return nil, fmt.Errorf("it tells of %d requests, and of %g s", requests, seconds)
	}
	out.Window = time.Duration(math.Round(seconds * float64(time.Second)))
	out.Total = experiment.Totals{Offered: requests, Sent: requests}
	out.set("sent", float64(requests)/seconds)
	out.set("requests_done", float64(requests))
	failed, judged := s.judge(out, requests, seconds)
	s.bytes(out, seconds)
	s.times(out, failed, requests, judged)
	k6Hides(out)
	out.unknown("in_flight", "k6 tells of its VUs, which are not always in a request")
	out.unknown("connects", "the summary does not tell how many requests opened a connection")
	iterations := k6Iterations{requests: requests, open: s.open}
	iterations.done, _ = s.count("iterations", "count")
	iterations.dropped, _ = s.count("dropped_iterations", "count")
	iterations.tell(out)
	out.note("the summary has neither statuses nor kinds of failures")
	if s.rounded {
		out.note("the text rounds its numbers")
	}
	checks, _ := s.count("checks", "fails")
	k6Checks(out, checks, failed)
	wholeRun(out, span)
	return out, nil
}

// judge tells successes from failures. http_req_failed has passes for failures.
func (s k6Summary) judge(out *result, requests int64, seconds float64) (failed int64, judged bool) {
	failed, told := s.count("http_req_failed", "passes")
	ok, told2 := s.count("http_req_failed", "fails")
	if !told || !told2 || failed+ok != requests {
		why := fmt.Sprintf("http_req_failed judges %d of %d requests: the script changes what k6 expects", failed+ok, requests)
		out.unknown("throughput", why)
		out.unknown("error_rate", why)
		return 0, false
	}
	out.Total.OK, out.Total.Failed = ok, failed
	out.set("throughput", float64(ok)/seconds)
	out.set("error_rate", float64(failed)/float64(requests))
	return failed, true
}

func (s k6Summary) bytes(out *result, seconds float64) {
	for _, one := range []struct{ metric, name string }{{"bytes_sent", "data_sent"}, {"bytes_received", "data_received"}} {
		n, ok := s.count(one.name, "count")
		switch {
		case ok:
			out.set(one.metric, float64(n)/seconds)
		case s.rounded:
			out.unknown(one.metric, "the text rounds it to two digits")
		}
	}
}

// times sets the quantiles: of successes, where the summary has them apart.
func (s k6Summary) times(out *result, failed, requests int64, judged bool) {
	if judged && failed == requests {
		out.unknownAll("service_time_", "there is no such request")
		return
	}
	values, apart := s.metrics[k6Expected]
	if !apart {
		values = s.metrics["http_req_duration"]
	}
	for _, q := range experiment.Quantiles() {
		stat := map[string]string{"p50": "med", "p90": "p(90)", "p95": "p(95)", "p99": "p(99)", "p999": "p(99.9)", "max": "max"}[q.Name]
		v, ok := values[stat]
		if !ok && q.Name == "p50" {
			v, ok = values["p(50)"]
		}
		if !ok {
			out.unknown("service_time_"+q.Name, "k6 tells "+stat+" only where summaryTrendStats asks for it")
			continue
		}
		out.set("service_time_"+q.Name, v/1000)
	}
	s.connections(out)
	switch {
	case apart:
	case judged:
		out.mixed(failed, requests, "failures", k6Expected)
	default:
		out.warn("the response times are of all requests, and the summary does not tell how many of them failed")
	}
}

// connections tells what the service times leave out, and warns where it is much.
func (s k6Summary) connections(out *result) {
	const much = 0.05 // of the mean http_req_duration
	blocked, duration := s.metrics["http_req_blocked"], s.metrics["http_req_duration"]
	if blocked == nil {
		out.note("service times are http_req_duration, without the time to get a connection, which this summary does not tell: --summary-mode=full does")
		return
	}
	tell := out.note
	if blocked["avg"] > much*duration["avg"] {
		tell = out.warn
	}
	tell("service times are http_req_duration, without the time to get a connection, which http_req_blocked tells: mean %.3g s, p(95) %.3g s, max %.3g s",
		blocked["avg"]/1000, blocked["p(95)"]/1000, blocked["max"]/1000)
}
