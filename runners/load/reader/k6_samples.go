package reader

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// k6Sample is a value of one of k6's metrics.
type k6Sample struct {
	metric string
	at     time.Time
	vague  bool // at is a whole second
	value  float64
	tags   k6Tags
}

// k6Tags are those that are looked at; empty where they are switched off.
type k6Tags struct {
	Status   string `json:"status"`
	Error    string `json:"error"`
	Code     string `json:"error_code"`
	Expected string `json:"expected_response"`
	Group    string `json:"group"`
	Name     string `json:"name"` // of the kind of request, where it is not URL
	URL      string `json:"url"`
}

// aside reports whether a sample is of the script's setup or teardown.
func (t k6Tags) aside() bool {
	return strings.HasPrefix(t.Group, "::setup") || strings.HasPrefix(t.Group, "::teardown")
}

// k6Request is a request, of which k6 writes its samples one after the other.
type k6Request struct {
	sample     k6Sample // http_reqs
	duration   time.Duration
	blocked    time.Duration
	connecting time.Duration
	failed     bool // as http_req_failed tells

	timed, waited, judged bool // duration, blocked and failed were told
}

// k6Rows gathers samples.
type k6Rows struct {
	out            *result
	rows           rows
	span           experiment.Span
	now            *k6Request // whose samples are being met
	iterations     k6Iterations
	received, sent float64 // bytes
	checks         int64   // that failed
	aside          int     // requests of setup and teardown
	mute           int     // failures without a time
	names          map[string]string
	edge           int // requests that may have begun in the span, or outside it
}

func newK6Rows(format string, span experiment.Span) *k6Rows {
	return &k6Rows{out: newResult("k6", format), span: span, names: map[string]string{}, rows: rows{span: span, connects: true}}
}

// add takes the next sample. Samples of a request follow its http_reqs.
func (r *k6Rows) add(s k6Sample) error {
	if s.at.Year() < 1970 || s.at.Year() > 2200 || math.IsNaN(s.value) || math.IsInf(s.value, 0) {
		return fmt.Errorf("%s at %s is %g", quote([]byte(s.metric)), s.at.Format(time.RFC3339), s.value)
	}
	if s.vague {
		r.rows.noClock = "k6 wrote times in whole seconds"
	}
	if s.metric != "http_reqs" && strings.HasPrefix(s.metric, "http_req_") {
		return r.part(s)
	}
	if err := r.flush(); err != nil {
		return err
	}
	if s.metric == "http_reqs" {
		r.now = &k6Request{sample: s}
		return nil
	}
	if s.tags.aside() {
		return nil
	}
	return r.count(s)
}

// count takes a sample that is of no request.
func (r *k6Rows) count(s k6Sample) error {
	inside := r.span.Has(s.at)
	switch s.metric {
	case "iterations":
		r.iterations.done++
	case "dropped_iterations":
		if s.value < 1 || s.value > 1e9 {
			return fmt.Errorf("dropped_iterations is %g", s.value)
		}
		if inside {
			r.iterations.dropped += int64(s.value)
		}
	case "data_received":
		if inside {
			r.received += s.value
		}
	case "data_sent":
		if inside {
			r.sent += s.value
		}
	case "checks":
		if inside && s.value == 0 {
			r.checks++
		}
	}
	return nil
}

// part takes a sample of the request under way.
func (r *k6Rows) part(s k6Sample) error {
	if r.now == nil {
		return fmt.Errorf("%s of no request: k6 writes http_reqs first", s.metric)
	}
	took := time.Duration(math.Round(s.value * float64(time.Millisecond)))
	if s.value < 0 || s.value > 1e9 { // 11 days
		return fmt.Errorf("%s is %g", s.metric, s.value)
	}
	switch s.metric {
	case "http_req_duration":
		r.now.duration, r.now.timed = took, true
	case "http_req_blocked":
		r.now.blocked, r.now.waited = took, true
	case "http_req_connecting":
		r.now.connecting = took
	case "http_req_failed":
		r.now.failed, r.now.judged = s.value != 0, true
	}
	return nil
}

var errK6Parts = errors.New("a request lacks http_req_duration, or http_req_blocked, beside its http_reqs")

// flush enters the request under way.
func (r *k6Rows) flush() error {
	one := r.now
	if r.now = nil; one == nil {
		return nil
	}
	if !one.timed || !one.waited {
		return errK6Parts
	}
	tags := one.sample.tags
	if tags.aside() {
		r.aside++
		return nil
	}
	r.iterations.requests++
	status, failed, err := one.outcome()
	if err != nil {
		return err
	}
	kind := ""
	if failed {
		kind = k6Failure(status, tags.Code, tags.Error)
	}
	took := one.duration + one.blocked
	if failed && took == 0 {
		r.mute++
		r.rows.untimed = true
	}
	begin := one.sample.at.Add(-took)
	if one.sample.vague && r.span.Has(begin) != r.span.Has(begin.Add(time.Second-1)) {
		r.edge++
		return nil
	}
	r.rows.add(row{
		begin: begin, took: took, status: int32(status), failure: kind,
		received: notTold, sent: notTold, opened: one.connecting > 0, request: r.kind(tags),
	})
	return nil
}

// kind is the name that the script gave a request. k6 names the others by their URLs.
func (r *k6Rows) kind(tags k6Tags) string {
	if tags.Name == tags.URL {
		return ""
	}
	name, known := r.names[tags.Name]
	if !known {
		name = strings.Clone(tags.Name) // out of its line
		r.names[name] = name
	}
	return name
}

// outcome tells how the request ended: as k6 judged it, and where the script told k6
// not to judge, as k6 does by default.
func (q *k6Request) outcome() (status int, failed bool, err error) {
	tags := q.sample.tags
	status = k6Status(tags.Status)
	switch {
	case q.judged:
		return status, q.failed, nil
	case tags.Expected != "":
		return status, tags.Expected != "true", nil
	case tags.Status != "":
		return status, status < 200 || status > 399, nil
	}
	return 0, false, errors.New("a request has neither http_req_failed nor a status: whether it failed is not told")
}

// finish reduces what was gathered. cut is why the output ends too early, or nil.
func (r *k6Rows) finish(cut error) (*result, error) {
	if err := r.flush(); err != nil {
		if !errors.Is(err, errK6Parts) {
			return nil, err
		}
		cut = incomplete("the samples of its last request are cut off")
	}
	if r.edge > 0 {
		r.rows.partial = fmt.Sprintf("%s: %d requests may have begun in the window, or outside it", r.rows.noClock, r.edge)
	}
	if err := r.rows.into(r.out); err != nil {
		return nil, errors.Join(cut, err)
	}
	k6Hides(r.out)
	r.counts()
	r.notes()
	return r.out, cut
}

// counts sets what k6 does not tell by request.
func (r *k6Rows) counts() {
	if r.rows.noClock != "" && !r.span.IsZero() {
		why := r.rows.noClock + ": what happened in the window is not known"
		for _, m := range []string{"offered", "dropped"} {
			r.out.unknown(m, why)
		}
		return
	}
	r.iterations.tell(r.out)
	if r.out.Window > 0 {
		r.out.set("bytes_received", r.received/r.out.Window.Seconds())
		r.out.set("bytes_sent", r.sent/r.out.Window.Seconds())
	}
}

func (r *k6Rows) notes() {
	out := r.out
	out.note("service times are http_req_duration + http_req_blocked: the first one leaves out the time to get a connection")
	out.note("the samples do not tell whether k6 came to its end: it writes them every second")
	if r.rows.noClock != "" {
		out.note("%s, so there is no window, no rate and no series: K6_CSV_TIME_FORMAT=unix_nano makes it write more", r.rows.noClock)
	}
	if r.edge > 0 {
		out.note("%d requests are left out: they may have begun in the window, or outside it", r.edge)
	}
	if r.mute > 0 {
		out.note("%d requests failed before they had a connection: k6 tells 0 s of them", r.mute)
	}
	if r.aside > 0 {
		out.note("%d requests of the script's setup and teardown are left out", r.aside)
	}
	k6Checks(out, r.checks, out.Total.Failed)
}
