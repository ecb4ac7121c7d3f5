package reader

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// h2load is h2load of nghttp2 (measured: 1.52.0): its text, and what --log-file writes.
//
// It counts from the real send, and does not write whether it paced (--rps, --rate). A
// status from 200 to 399 is a success. A connection that fails takes all requests with it
// that it still had to send: they are errored as well, and were never sent. The text
// leaves a warm-up out; the log has no request that was cut off with its connection, or
// was open at the end.
func h2load() tool {
	return tool{name: "h2load", formats: "its text (finished in 1.82s, ...) or its --log-file", detect: func(data []byte) format {
		switch {
		case h2loadRow.Match(data[:min(len(data), 100)]):
			return h2loadLog
		case hasText(data, "starting benchmark...", "\nfinished in ", "\nrequests: "):
			return asText(h2loadText)
		}
		return nil
	}}
}

var (
	h2loadRow      = regexp.MustCompile(`^\d+\t-?\d+\t\d+(?:\n|$)`)
	h2loadFinished = regexp.MustCompile(`^finished in (\S+), ([0-9.]+) req/s, `)
	h2loadRequests = regexp.MustCompile(`^requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout`)
	h2loadStatuses = regexp.MustCompile(`^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx`)
	h2loadTraffic  = regexp.MustCompile(`^traffic: \S+ \((\d+)\) total`)
	h2loadMain     = regexp.MustCompile(`Timing-based test with (\d+)s of warm-up time and (\d+)s of main duration`)
	h2loadHead     = regexp.MustCompile(`^\s+min\s+max\s+`)
	h2loadTimes    = regexp.MustCompile(`^time for request:\s+(.*)$`)
)

// h2loadCounts are requests. Started ones were sent, done ones had a response.
type h2loadCounts struct{ total, started, done, succeeded, failed, errored, timeout int64 }

// cut is how many were sent and failed without a response.
func (c h2loadCounts) cut() int64 { return min(c.errored+c.timeout, c.started-c.done) }

func h2loadText(lines []string, span experiment.Span) (*result, error) {
	finished, requests := firstMatch(lines, h2loadFinished), firstMatch(lines, h2loadRequests)
	if finished == nil || requests == nil || firstMatch(lines, h2loadTimes) == nil {
		return nil, incomplete("the totals at its end are missing: h2load was stopped before")
	}
	c := h2loadCounts{
		total: count(requests[1]), started: count(requests[2]), done: count(requests[3]), succeeded: count(requests[4]),
		failed: count(requests[5]), errored: count(requests[6]), timeout: count(requests[7]),
	}
	switch {
	case c.done > c.started || c.succeeded > c.done:
		return nil, fmt.Errorf("%d requests started, %d done, %d succeeded", c.started, c.done, c.succeeded)
	case c.done+c.cut() == 0:
		return nil, incomplete("of %d requests none was done", c.total)
	}
	out := newResult("h2load", "text")
	if err := h2loadWindow(out, lines, finished, c.done); err != nil {
		return nil, err
	}
	c.tell(out)
	if m := firstMatch(lines, h2loadStatuses); m != nil {
		out.Statuses = map[string]int64{}
		for i, class := range []string{"2xx", "3xx", "4xx", "5xx"} {
			if n := count(m[i+1]); n > 0 {
				out.Statuses[class] = n
			}
		}
		out.Total.Statuses = out.Statuses
	}
	if m := firstMatch(lines, h2loadTraffic); m != nil {
		out.set("bytes_received", float64(count(m[1]))/out.Window.Seconds())
	}
	h2loadQuantiles(out, lines)
	out.mixed(c.done-c.succeeded, c.done, "responses above 399", "its log (--log-file)")
	wholeRun(out, span)
	return out, nil
}

// h2loadWindow sets the length of the window: without a warm-up, and with more digits
// than are written where the rate has them.
func h2loadWindow(out *result, lines, finished []string, done int64) error {
	lasted, _ := seconds(finished[1])
	if rate, ok := number(finished[2]); ok && rate >= 10 {
		lasted = float64(done) / rate
	}
	if m := firstMatch(lines, h2loadMain); m != nil {
		lasted = float64(count(m[2]))
		if warmup := count(m[1]); warmup > 0 {
			out.note("a warm-up of %d s is left out", warmup)
		}
	}
	return out.lasted(lasted)
}

func (c h2loadCounts) tell(out *result) {
	cut, bad := c.cut(), c.done-c.succeeded
	timeouts := min(c.timeout, cut)
	out.Errors = map[string]int64{}
	for kind, n := range map[string]int64{experiment.FailureStatus: bad, experiment.FailureTimeout: timeouts, experiment.FailureOther: cut - timeouts} {
		if n > 0 {
			out.Errors[kind] = n
		}
	}
	open := c.started - c.done - cut
	out.Total = experiment.Totals{
		Offered: c.started, Sent: c.started, OK: c.succeeded, Failed: bad + cut, Unfinished: open, Errors: out.Errors,
	}
	window := out.Window.Seconds()
	out.set("throughput", float64(c.succeeded)/window)
	out.set("sent", float64(c.started)/window)
	out.set("requests_done", float64(c.done+cut))
	out.set("error_rate", float64(bad+cut)/float64(c.done+cut))
	out.set("unfinished", float64(open))
	if never := c.errored + c.timeout - cut; never > 0 {
		out.warn("%d of %d requests were never sent: a connection that failed took them with it, and h2load counts them as errored (%d) and failed (%d)", never, c.total, c.errored, c.failed)
	}
	h2loadHides(out)
}

// h2loadHides tells what no format of h2load has.
func h2loadHides(out *result) {
	out.unknown("offered", "h2load does not write whether it paced (--rps, --rate)")
	out.unknownAll("latency_", "h2load counts from the real send, and does not write whether it paced (--rps, --rate)")
	out.unknownAll("failed_latency_", "h2load counts from the real send, and does not write whether it paced (--rps, --rate)")
}

// h2loadQuantiles sets what the table has: of older versions the maximum alone.
func h2loadQuantiles(out *result, lines []string) {
	out.unknownAll("service_time_", "this table of h2load has no such percentile; its --log-file tells them")
	head, values := []string(nil), firstMatch(lines, h2loadTimes)
	for _, line := range lines {
		if h2loadHead.MatchString(line) {
			head = strings.Fields(line)
			break
		}
	}
	if head == nil || values == nil {
		return
	}
	names := map[string]string{"median": "p50", "p95": "p95", "p99": "p99", "max": "max"}
	for i, value := range strings.Fields(values[1]) {
		if i >= len(head) || names[head[i]] == "" {
			continue
		}
		if v, ok := seconds(value); ok && v > 0 {
			out.set("service_time_"+names[head[i]], v)
		}
	}
}

// h2loadLog reads a --log-file: a line has the start in µs since the epoch, the status
// (-1: the request failed) and the duration in µs.
func h2loadLog(data []byte, span experiment.Span) (*result, error) {
	const hidden = "the log has no request that was cut off with its connection, or was open at the end"
	out := newResult("h2load", "log")
	r := rows{span: span, partial: hidden}
	cut, err := eachLine(data, func(line []byte) error {
		one, err := h2loadRequest(string(line))
		if err != nil {
			return err
		}
		r.add(one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.into(out); err != nil {
		if cut != nil {
			return nil, cut
		}
		return nil, err
	}
	h2loadHides(out)
	out.unknown("unfinished", hidden)
	out.note("%s: they are in no number here", hidden)
	return out, cut
}

func h2loadRequest(line string) (row, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return row{}, fmt.Errorf("%d columns, and 3 are wanted", len(fields))
	}
	begin, err1 := strconv.ParseInt(fields[0], 10, 64)
	status, err2 := strconv.ParseInt(fields[1], 10, 32)
	took, err3 := strconv.ParseInt(fields[2], 10, 64)
	switch {
	case err1 != nil || err2 != nil || err3 != nil:
		return row{}, fmt.Errorf("a number is wanted in each column")
	case begin < 0 || begin > math.MaxInt64/1000:
		return row{}, fmt.Errorf("its start is no time")
	case took < 0 || took > maxWindow.Microseconds():
		return row{}, fmt.Errorf("its duration is none")
	}
	one := row{begin: time.UnixMicro(begin), took: time.Duration(took) * time.Microsecond, received: notTold, sent: notTold}
	switch {
	case status <= 0:
		one.failure = experiment.FailureOther
	case status < 200 || status > 399:
		one.status, one.failure = int32(status), experiment.FailureStatus
	default:
		one.status = int32(status)
	}
	return one, nil
}
