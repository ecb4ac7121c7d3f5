package reader

import (
	"regexp"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// wrk is wrk (measured: 4.1.0), whose output is a text.
//
// It keeps a fixed number of connections busy without pacing, so that the response time
// is the service time. Requests are responses that came whole, also those above 399 and
// those that came after the timeout; a failure of a connection is counted apart, and what
// has no response at the end not at all. A response after the timeout is in no
// percentile. After the end wrk adds to its latencies: where one is longer than twice the
// mean interval between the responses of a connection, one that is shorter by the
// interval is invented, and so on.
func wrk() tool {
	return tool{name: "wrk", formats: "its text (Running 10s test @ URL ...)", detect: func(data []byte) format {
		if !hasText(data, "Running ") || !hasText(data, " test @ ") || isWrk2(data) {
			return nil
		}
		return asText(readWrk)
	}}
}

var (
	wrkRunning   = regexp.MustCompile(`^Running \S+ test @ `)
	wrkThreads   = regexp.MustCompile(`^\s+\d+ threads and (\d+) connections`)
	wrkThreadMax = regexp.MustCompile(`^\s+Latency\s+\S+\s+\S+\s+(\S+)\s+\S+%`)
	wrkTotals    = regexp.MustCompile(`^\s*(\d+) requests in ([0-9.]+[a-z]+), ([0-9.]+[KMGTP]?B) read`)
	wrkSocket    = regexp.MustCompile(`^\s+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus    = regexp.MustCompile(`^\s+Non-2xx or 3xx responses: (\d+)`)
	wrkRate      = regexp.MustCompile(`^Requests/sec:\s+([0-9.]+)`)
	wrkTransfer  = regexp.MustCompile(`^Transfer/sec:\s+\S+B`)
	wrkQuantile  = regexp.MustCompile(`^\s*([0-9.]+)%\s+([0-9.]+[a-z]+)\s*$`)
)

// wrkText is what wrk and wrk2 write alike.
type wrkText struct {
	connections                   int64
	requests, status              int64 // responses, and those above 399
	connect, read, write, timeout int64 // counted apart
	seconds                       float64
	received                      float64 // bytes
	max                           string  // of the latencies
}

// readWrkText reads it.
func readWrkText(tool string, lines []string) (*wrkText, error) {
	if firstMatch(lines, wrkRunning) == nil {
		return nil, incomplete("the line is missing in which %s tells that it runs", tool)
	}
	totals, rate := firstMatch(lines, wrkTotals), firstMatch(lines, wrkRate)
	if totals == nil || rate == nil || firstMatch(lines, wrkTransfer) == nil {
		return nil, incomplete("the totals at its end are missing: %s was stopped before", tool)
	}
	t := &wrkText{requests: count(totals[1])}
	t.seconds, _ = seconds(totals[2])
	t.received, _ = binary(totals[3])
	if perSecond, ok := number(rate[1]); ok && perSecond >= 10 {
		t.seconds = float64(t.requests) / perSecond // of more digits
	}
	if m := firstMatch(lines, wrkThreads); m != nil {
		t.connections = count(m[1])
	}
	if m := firstMatch(lines, wrkThreadMax); m != nil {
		t.max = m[1]
	}
	if m := firstMatch(lines, wrkStatus); m != nil {
		t.status = min(count(m[1]), t.requests)
	}
	if m := firstMatch(lines, wrkSocket); m != nil {
		t.connect, t.read, t.write, t.timeout = count(m[1]), count(m[2]), count(m[3]), count(m[4])
	}
	if t.requests+t.connect+t.read+t.write == 0 {
		return nil, incomplete("%s had no response", tool)
	}
	return t, nil
}

// counts sets what follows from the totals. late is how many of the responses came after
// the timeout.
func (t *wrkText) counts(out *result, late int64) error {
	if err := out.lasted(t.seconds); err != nil {
		return err
	}
	bad := min(t.status+late, t.requests)
	cut := t.connect + t.read + t.write
	out.Errors = map[string]int64{}
	for kind, n := range map[string]int64{experiment.FailureStatus: t.status, experiment.FailureTimeout: late, experiment.FailureConnect: t.connect, experiment.FailureOther: t.read + t.write} {
		if n > 0 {
			out.Errors[kind] = n
		}
	}
	done := t.requests + cut
	out.Total = experiment.Totals{Offered: done, Sent: done, OK: t.requests - bad, Failed: bad + cut, Errors: out.Errors}
	out.set("throughput", float64(t.requests-bad)/t.seconds)
	out.set("requests_done", float64(done))
	out.set("error_rate", float64(bad+cut)/float64(done))
	out.set("bytes_received", t.received/t.seconds)
	out.unknown("sent", "requests without a response at the end are not counted")
	out.unknown("unfinished", "requests without a response at the end are not counted")
	out.unknownAll("failed_latency_", "successes and failures are not told apart")
	return nil
}

func readWrk(lines []string, span experiment.Span) (*result, error) {
	t, err := readWrkText("wrk", lines)
	if err != nil {
		return nil, err
	}
	out := newResult("wrk", "text")
	late := min(t.timeout, t.requests)
	if err := t.counts(out, late); err != nil {
		return nil, err
	}
	out.unknown("offered", "a closed loop has no arrivals")
	t.closedTimes(out, lines)
	if late > 0 {
		out.warn("%d of %d responses came after the timeout: they are in no percentile and not in the maximum, and wrk counts them as requests (here: as failures; as two where their status was above 399, too)", late, t.requests)
	}
	out.mixed(t.status, t.requests, "responses above 399", "")
	wholeRun(out, span)
	return out, nil
}

// closedTimes sets the quantiles.
func (t *wrkText) closedTimes(out *result, lines []string) {
	names := map[string]string{"50": "p50", "90": "p90", "99": "p99"}
	for _, line := range lines {
		m := wrkQuantile.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if v, ok := seconds(m[2]); ok && v > 0 && names[m[1]] != "" && !out.has("latency_"+names[m[1]]) {
			out.setClosed(names[m[1]], v)
		}
	}
	why := "wrk tells p50, p75, p90 and p99 alone"
	if !out.has("latency_p50") {
		why = "wrk ran without --latency"
	}
	out.unknownAll("latency_", why)
	out.unknownAll("service_time_", why)
	longest, ok := seconds(t.max)
	if !ok || longest == 0 {
		return // of no response
	}
	out.setClosed("max", longest)
	if t.connections == 0 || t.requests < t.connections {
		return
	}
	interval := t.seconds / float64(t.requests/t.connections)
	if longest >= 2*interval {
		out.note("the latencies hold invented ones: wrk adds some to each above twice the mean interval between responses of a connection (%.3g s), and the longest is %.3g s", interval, longest)
	}
}

// isWrk2 reports whether the text has what only wrk2 writes.
func isWrk2(data []byte) bool {
	return hasText(data, "Thread calibration: ", "(HdrHistogram - ", strings.Repeat("-", 58)+"\n")
}
