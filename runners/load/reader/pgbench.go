package reader

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// pgbench is pgbench of PostgreSQL (measured: 15.20): its text, and the log of each
// transaction that -l writes. A transaction is a request.
//
// With -R it counts from the scheduled start, so that its times hold the lag; else it is
// a closed loop without pacing, whose times are those of service as well. What fails is a
// transaction that met a serialization failure or a deadlock, and has no more tries; at
// any other error the client ends, which counts nowhere.
func pgbench() tool {
	return tool{name: "pgbench", formats: "its text (transaction type: ... tps = ...) or its log of transactions (-l)", detect: func(data []byte) format {
		line, _, _ := strings.Cut(string(data[:min(len(data), 200)]), "\n")
		switch {
		case pgbenchRow.MatchString(line):
			return pgbenchLog
		case pgbenchAggregate.MatchString(line):
			return pgbenchAggregated
		case hasText(data, "transaction type: ", "pgbench (PostgreSQL)", "pgbench (", "progress: "):
			return asText(pgbenchText)
		}
		return nil
	}}
}

var (
	pgbenchKey      = regexp.MustCompile(`^([a-z][a-zA-Z ]+?)(?::| =) (.*)$`)
	pgbenchTPS      = regexp.MustCompile(`^tps = ([0-9.]+) \((without initial connection time|including reconnection times|excluding connections establishing|including connections establishing)\)`)
	pgbenchScript   = regexp.MustCompile(`^SQL script \d+: (.*)$`)
	pgbenchShare    = regexp.MustCompile(`^ - (\d+) transactions \(.*tps = ([0-9.]+)\)`)
	pgbenchFailed   = regexp.MustCompile(`^ - number of failed transactions: (\d+) `)
	pgbenchProgress = regexp.MustCompile(`^progress: ([0-9.]+) s, ([0-9.]+) tps, `)
)

// pgbenchDue is why nobody knows what was offered at a rate.
const pgbenchDue = "transactions that were due and had not begun at the end are not told"

// pgbenchSummary is the text in parts.
type pgbenchSummary struct {
	of      map[string]string // lines of the whole run, by name
	tps     map[string]string // by what it says of connections
	scripts []pgbenchPart
}

// pgbenchPart is one of several scripts.
type pgbenchPart struct {
	name, tps  string
	ok, failed int64
}

func readPgbenchSummary(lines []string) *pgbenchSummary {
	s := &pgbenchSummary{of: map[string]string{}, tps: map[string]string{}}
	for _, line := range lines {
		if m := pgbenchScript.FindStringSubmatch(line); m != nil {
			s.scripts = append(s.scripts, pgbenchPart{name: m[1]})
		} else if len(s.scripts) > 0 {
			part := &s.scripts[len(s.scripts)-1]
			if m := pgbenchShare.FindStringSubmatch(line); m != nil {
				part.ok, part.tps = count(m[1]), m[2]
			} else if m := pgbenchFailed.FindStringSubmatch(line); m != nil {
				part.failed = count(m[1])
			}
		} else if m := pgbenchTPS.FindStringSubmatch(line); m != nil {
			s.tps[m[2]] = m[1]
		} else if m := pgbenchKey.FindStringSubmatch(line); m != nil && s.of[m[1]] == "" {
			s.of[m[1]] = m[2]
		}
	}
	return s
}

// number reads the count that begins a line's value, as in "115 (57.500%)" or
// "85/200"; planned is what follows the slash, or 0.
func (s *pgbenchSummary) number(name string) (n, planned int64, told bool) {
	text, told := s.of[name]
	text, _, _ = strings.Cut(text, " ")
	text, of, _ := strings.Cut(text, "/")
	return count(text), count(of), told
}

func pgbenchText(lines []string, span experiment.Span) (*result, error) {
	s := readPgbenchSummary(lines)
	ok, planned, told := s.number("number of transactions actually processed")
	if !told || len(s.tps) == 0 {
		return nil, pgbenchCut(lines)
	}
	failed, _, failures := s.number("number of failed transactions")
	skipped, _, limited := s.number("number of transactions skipped")
	if ok+failed == 0 {
		return nil, incomplete("no transaction was processed")
	}
	out := newResult("pgbench", "text")
	if err := s.window(out, ok); err != nil {
		return nil, err
	}
	out.Errors = map[string]int64{}
	if failed > 0 {
		out.Errors[experiment.FailureOther] = failed
	}
	out.Total = experiment.Totals{Offered: ok + failed + skipped, Sent: ok + failed, Dropped: skipped, OK: ok, Failed: failed, Errors: out.Errors}
	seconds := out.Window.Seconds()
	out.set("throughput", float64(ok)/seconds)
	out.set("sent", float64(ok+failed)/seconds)
	out.set("requests_done", float64(ok+failed))
	if limited {
		out.set("dropped", float64(skipped)/float64(ok+failed+skipped))
	}
	if failures {
		out.set("error_rate", float64(failed)/float64(ok+failed))
	}
	s.untold(out)
	s.warnings(out, lines, planned-ok-failed-skipped, planned)
	s.parts(out)
	wholeRun(out, span)
	return out, nil
}

// pgbenchCut tells of a text without its end.
func pgbenchCut(lines []string) error {
	for _, line := range slices.Backward(lines) {
		if m := pgbenchProgress.FindStringSubmatch(line); m != nil {
			return incomplete("its totals are missing: the last line is of its progress at %s s, with %s tps", m[1], m[2])
		}
	}
	return incomplete("its totals are missing: pgbench was stopped before, or this is not its standard output")
}

// window sets the length: that of the transactions without the time to connect, where
// it connects once.
func (s *pgbenchSummary) window(out *result, ok int64) error {
	for _, how := range []string{"without initial connection time", "excluding connections establishing", "including reconnection times", "including connections establishing"} {
		if tps, told := number(s.tps[how]); told && tps > 0 {
			return out.lasted(float64(ok) / tps)
		}
	}
	if d, told := s.of["duration"]; told { // of failures alone
		text, _, _ := strings.Cut(d, " ")
		v, _ := number(text)
		return out.lasted(v)
	}
	return fmt.Errorf("%d transactions were processed at 0 tps", ok)
}

func (s *pgbenchSummary) untold(out *result) {
	_, throttled := s.of["rate limit schedule lag"]
	why := "the text has a mean and no percentile; the log of transactions (-l) tells all"
	out.unknownAll("latency_", why)
	out.unknownAll("service_time_", why)
	out.unknownAll("failed_latency_", "the text has no times of failures")
	out.unknown("error_rate", "before version 15 pgbench counts no failures: a client ends at its first")
	if throttled {
		out.unknown("offered", pgbenchDue)
		out.unknown("lateness_p99", "the text has the mean and the maximum of the lag alone; the log of transactions (-l) tells all")
		out.note("the rate was limited (-R): schedule lag %s, which the times hold", s.of["rate limit schedule lag"])
	} else {
		out.unknown("offered", "a closed loop has no arrivals")
	}
	out.unknown("dropped", "only a run with a limit of latency (-L) at a rate (-R) skips transactions")
}

// warnings tells what the numbers hide. missing is how many transactions were planned
// and have no outcome.
func (s *pgbenchSummary) warnings(out *result, lines []string, missing, planned int64) {
	aborted := 0
	for _, line := range lines {
		if strings.Contains(line, " aborted in ") || strings.HasPrefix(line, "pgbench: error: client ") {
			aborted++
		}
	}
	switch {
	case planned > 0 && missing > 0:
		out.warn("%d of %d transactions were never done: clients ended at an error, which pgbench counts as no failure", missing, planned)
	case aborted > 0:
		out.warn("%d clients ended at an error, which pgbench counts as no failure", aborted)
	}
	if retries, _, told := s.number("total number of retries"); told && retries > 0 {
		out.note("transactions were tried again %d times: each counts once, with the time of all its tries", retries)
	}
	if _, again := s.tps["including reconnection times"]; again {
		out.set("connects", float64(out.Total.Sent)/out.Window.Seconds())
		out.note("each transaction opens a connection (-C), whose time it holds")
	}
}

// parts tells of each script, where there are several.
func (s *pgbenchSummary) parts(out *result) {
	names := map[string]bool{}
	for i := range s.scripts {
		s.scripts[i].name = slug(s.scripts[i].name)
		names[s.scripts[i].name] = true
	}
	if len(s.scripts) < 2 {
		return
	}
	if len(names) < len(s.scripts) || !nameable(out, slices.Sorted(maps.Keys(names))) {
		out.note("its %d scripts are not told apart", len(s.scripts))
		return
	}
	out.Requests = map[string]experiment.Totals{}
	for _, p := range s.scripts {
		of := func(metric string) string { return experiment.MetricName{Base: metric, Request: p.name}.String() }
		out.Requests[p.name] = experiment.Totals{Offered: p.ok + p.failed, Sent: p.ok + p.failed, OK: p.ok, Failed: p.failed}
		out.setText(of("throughput"), p.tps, number)
		out.set(of("requests_done"), float64(p.ok+p.failed))
		if p.ok+p.failed > 0 {
			out.set(of("error_rate"), float64(p.failed)/float64(p.ok+p.failed))
		}
	}
}

// scriptName names a script by its number in the log.
func scriptName(number int) string { return "script_" + strconv.Itoa(number) }
