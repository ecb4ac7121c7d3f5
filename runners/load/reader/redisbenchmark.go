package reader

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// redisBenchmark is redis-benchmark (measured: 5.0.6, 6.0.8, 6.2.7 and 7.0.15): its text,
// what -q leaves of it, and its CSV. A command is a request.
//
// It keeps a fixed number of connections busy without pacing, so that the response time
// is the service time; with -P that of each command is the one of its batch. It runs its
// tests one after the other. Since 6.2 it ends at the first error reply; before, an error
// reply counts as any other, unseen.
func redisBenchmark() tool {
	return tool{name: "redis-benchmark", formats: "its text, with or without -q, or its CSV (--csv)", detect: func(data []byte) format {
		line, _, _ := strings.Cut(string(data[:min(len(data), 300)]), "\n")
		switch {
		case strings.HasPrefix(line, `"test","rps"`) || redisOldRow.MatchString(line):
			return redisCSV
		case hasText(data, " requests per second", "====== ", redisError, ": rps="):
			return asText(redisText)
		}
		return nil
	}}
}

const redisError = "Error from server: "

// redisTest is one of the tests. Times are in ms as written, empty where they are not
// told.
type redisTest struct {
	title              string
	perSecond          string
	requests, clients  int64 // 0: not told
	threads            bool
	mean               string
	p50, p95, p99, max string
	whole              []redisShare // of a table of whole milliseconds
}

// redisShare is how much ended within so many milliseconds.
type redisShare struct{ share, ms float64 }

// redisRun is an output.
type redisRun struct {
	format string
	tests  []redisTest
	errors []string // replies that were shown
	old    bool     // before 6.2
}

var (
	redisOldRow  = regexp.MustCompile(`^"[^"]+","(?:[0-9.]+|inf|-?nan)"\r?$`)
	redisTitle   = regexp.MustCompile(`====== (.+) ======\s*$`)
	redisDone    = regexp.MustCompile(`^\s+(\d+) requests completed in [0-9.]+ seconds`)
	redisClients = regexp.MustCompile(`^\s+(\d+) parallel clients`)
	redisThreads = regexp.MustCompile(`^\s+multi-thread: yes`)
	redisRate    = regexp.MustCompile(`^\s+throughput summary: (\S+) requests per second`)
	redisSummary = regexp.MustCompile(`^\s+([0-9.]+)\s+[0-9.]+\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s*$`)
	redisOldRate = regexp.MustCompile(`^(\S+) requests per second\s*$`)
	redisShares  = regexp.MustCompile(`^([0-9.]+)% <= ([0-9.]+) milliseconds\s*$`)
	redisQuiet   = regexp.MustCompile(`^\s*(.+): (\S+) requests per second(?:, p50=([0-9.]+) msec)?\s*$`)
)

func redisText(lines []string, span experiment.Span) (*result, error) {
	v := redisRun{format: "text"}
	var test *redisTest
	for _, line := range lines {
		if _, reply, found := strings.Cut(line, redisError); found {
			v.errors = append(v.errors, reply)
		}
		if m := redisTitle.FindStringSubmatch(line); m != nil {
			v.tests = append(v.tests, redisTest{title: m[1]})
			test = &v.tests[len(v.tests)-1]
		} else if m := redisOldRate.FindStringSubmatch(line); m != nil && test != nil {
			test.perSecond, v.old = m[1], true
		} else if m := redisQuiet.FindStringSubmatch(line); m != nil && test == nil {
			v.format, v.old = "quiet", m[3] == ""
			v.tests = append(v.tests, redisTest{title: strings.TrimSpace(m[1]), perSecond: m[2], p50: m[3]})
		} else if test != nil {
			test.line(line)
		}
	}
	return v.result(span)
}

// line reads a line under the title of a test.
func (t *redisTest) line(line string) {
	if m := redisDone.FindStringSubmatch(line); m != nil {
		t.requests = count(m[1])
	} else if m := redisClients.FindStringSubmatch(line); m != nil {
		t.clients = count(m[1])
	} else if redisThreads.MatchString(line) {
		t.threads = true
	} else if m := redisRate.FindStringSubmatch(line); m != nil {
		t.perSecond = m[1]
	} else if m := redisSummary.FindStringSubmatch(line); m != nil {
		t.mean, t.p50, t.p95, t.p99, t.max = m[1], m[2], m[3], m[4], m[5]
	} else if m := redisShares.FindStringSubmatch(line); m != nil && len(t.whole) < 1e4 {
		share, _ := number(m[1])
		value, _ := number(m[2])
		t.whole = append(t.whole, redisShare{share: share / 100, ms: value})
	}
}

// redisCSV reads the CSV: since 6.2 with a header and latencies, before of two columns.
func redisCSV(data []byte, span experiment.Span) (*result, error) {
	if len(data) > maxText {
		return nil, fmt.Errorf("it is longer than %d bytes: no table of tests is", maxText)
	}
	v := redisRun{format: "csv", old: true}
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord = -1
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, csv.ErrQuote) {
			return nil, incomplete("it is cut off: %s", quoteError(err))
		} else if err != nil {
			return nil, fmt.Errorf("it is no CSV: %s", quoteError(err))
		}
		line, _ := r.FieldPos(0)
		switch {
		case f[0] == "test" && line == 1:
			v.old = false
		case len(f) == 2 && v.old:
			v.tests = append(v.tests, redisTest{title: f[0], perSecond: f[1]})
		case len(f) >= 8 && !v.old:
			v.tests = append(v.tests, redisTest{title: f[0], perSecond: f[1], mean: f[2], p50: f[4], p95: f[5], p99: f[6], max: f[7]})
		default:
			return nil, incomplete("line %d has %d columns", line, len(f))
		}
	}
	return v.result(span)
}

// result tells what follows from the tests that came to their end: of one as it is, of
// several for each.
func (v *redisRun) result(span experiment.Span) (*result, error) {
	var cut error
	if len(v.tests) == 0 {
		cut = incomplete("it has no test that came to its end")
	}
	v.tests = slices.DeleteFunc(v.tests, func(t redisTest) bool {
		begun := t.perSecond == "" || t.p50 == "" && !v.old
		if begun {
			cut = incomplete("test %s did not come to its end", quote([]byte(t.title)))
		}
		return begun
	})
	if !v.old && len(v.errors) > 0 {
		cut = incomplete("redis-benchmark ended at an error reply: %s", quote([]byte(v.errors[0])))
	}
	if len(v.tests) == 0 {
		return nil, cut
	}
	out := newResult("redis-benchmark", v.format)
	single := len(v.tests) == 1
	if !single {
		if err := v.names(); err != nil {
			return nil, err
		}
		out.Requests = map[string]experiment.Totals{}
	}
	for _, t := range v.tests {
		v.tell(out, t, single)
	}
	v.untold(out, single)
	wholeRun(out, span)
	return out, cut
}

// names makes a name of a request of each title.
func (v *redisRun) names() error {
	seen := map[string]bool{}
	for i := range v.tests {
		t := &v.tests[i]
		name := slug(t.title)
		if len(name) > maxRequestLength || !experiment.ValidName(name) || seen[name] || len(seen) > maxRequests {
			return fmt.Errorf("test %d, %s, cannot be told from the others by a name: give the output of one test, or of tests with different names", i+1, quote([]byte(t.title)))
		}
		seen[name] = true
		t.title = name
	}
	return nil
}

// tell sets the metrics of one test.
func (v *redisRun) tell(out *result, t redisTest, single bool) {
	of := func(metric string) string { return metric }
	if !single {
		of = func(metric string) string { return experiment.MetricName{Base: metric, Request: t.title}.String() }
	}
	rate, ok := number(t.perSecond)
	if ok {
		out.set(of("throughput"), rate)
		out.set(of("sent"), rate)
	}
	if !v.old {
		out.set(of("error_rate"), 0) // else it had ended
	}
	told := map[string]string{"p50": t.p50, "p95": t.p95, "p99": t.p99, "max": t.max}
	for _, q := range experiment.Quantiles() {
		if text := told[q.Name]; text != "" {
			out.set(of("latency_"+q.Name), ms(text))
			out.set(of("service_time_"+q.Name), ms(text))
		}
	}
	t.wholeMilliseconds(out, of)
	if t.requests == 0 {
		return
	}
	totals := experiment.Totals{Offered: t.requests, Sent: t.requests, OK: t.requests}
	out.set(of("requests_done"), float64(t.requests))
	out.Total.Offered += t.requests
	out.Total.Sent += t.requests
	out.Total.OK += t.requests
	if !single {
		out.Requests[t.title] = totals
	}
	if ok && rate > 0 {
		t.window(out, rate)
	}
}

// window adds the length of a test, and tells how exact it can be.
func (t *redisTest) window(out *result, rate float64) {
	lasted := float64(t.requests) / rate
	if err := out.lasted(out.Window.Seconds() + lasted); err != nil {
		return
	}
	step, why := 0.001, "it is told in whole milliseconds"
	if t.threads {
		step, why = 0.25, "with --threads the end is noticed each 250 ms"
	}
	tell := out.note
	switch share := step / lasted; {
	case share <= 0.01:
	case share > 0.1:
		tell = out.warn
		fallthrough
	default:
		tell("%s lasted %.3g s, and %s: throughput is exact to %.0f%%", t.title, lasted, why, share*100)
	}
	if mean := ms(t.mean); t.clients > 0 && mean*rate > 1.5*float64(t.clients) {
		out.warn("%s had %.0f commands under way, mean latency times rate, over %d connections: they were pipelined (-P), and the time of each is that of its batch", t.title, mean*rate, t.clients)
	}
}

// wholeMilliseconds sets the quantiles of a table in which 10 ms is from 10 to 11, where
// that is exact enough.
func (t *redisTest) wholeMilliseconds(out *result, of func(string) string) {
	const exact = 50 // ms, where half a millisecond is 1%
	for _, q := range experiment.Quantiles() {
		for _, one := range t.whole {
			if one.share < q.Q {
				continue
			}
			if one.ms >= exact && !out.has(of("latency_"+q.Name)) {
				out.set(of("latency_"+q.Name), (one.ms+0.5)/1e3)
				out.set(of("service_time_"+q.Name), (one.ms+0.5)/1e3)
			}
			break
		}
	}
}

func (v *redisRun) untold(out *result, single bool) {
	why := "this output of redis-benchmark has no such percentile"
	if v.old && v.format == "text" {
		why = "this version of redis-benchmark tells whole milliseconds, and it is below 50 of them"
	}
	out.unknownAll("latency_", why)
	out.unknownAll("service_time_", why)
	out.unknownAll("failed_latency_", "redis-benchmark does not time error replies apart")
	out.unknown("offered", "a closed loop has no arrivals")
	if v.old {
		out.unknown("error_rate", "before 6.2 redis-benchmark counts error replies as any other")
		out.warn("before 6.2 redis-benchmark counts error replies as requests done, and does not show them without -e: throughput and response times are of all replies")
		if len(v.errors) > 0 {
			out.warn("error replies came, of which it shows one a second at most: %s", quote([]byte(v.errors[0])))
		}
	}
	if v.format != "text" {
		out.note("this output does not tell the number of requests, of connections and of threads, nor whether commands were pipelined (-P)")
	}
	if single {
		return
	}
	why = fmt.Sprintf("there are %d tests, run one after the other: it is told of each", len(v.tests))
	for _, m := range metrics() {
		out.unknown(m, why)
	}
	out.note("%s", why)
}
