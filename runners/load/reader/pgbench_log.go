package reader

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// A line of the log is: client, number of the transaction in it, time in µs, script,
// moment of the end in s and µs since the epoch; with -R the schedule lag in µs; with
// --max-tries the number of retries. In the place of the time stands skipped, failed,
// serialization or deadlock.
var (
	pgbenchRow       = regexp.MustCompile(`^\d+ \d+ (?:\d+|skipped|failed|serialization|deadlock|other_sql_failure|unknown) \d+ \d{9,} \d{1,6}(?: \d+){0,2}$`)
	pgbenchAggregate = regexp.MustCompile(`^\d{9,} \d+ \d+ \d+ \d+ \d+(?: \d+)*$`)
)

// pgbenchAggregated refuses the log of --aggregate-interval.
func pgbenchAggregated([]byte, experiment.Span) (*result, error) {
	return nil, errors.New("it is an aggregated log (--aggregate-interval), which has sums and no times of transactions: give the log of a run without that option, or the text of pgbench")
}

// pgbenchLine is one transaction.
type pgbenchLine struct {
	client, number, script int
	took                   int64  // µs; of a success
	outcome                string // skipped, or a kind of failure; empty for a success
	end                    time.Time
	more                   []int64 // columns after the moment
}

func parsePgbenchLine(text string) (pgbenchLine, error) {
	f := strings.Split(text, " ")
	if len(f) < 6 || len(f) > 8 {
		return pgbenchLine{}, fmt.Errorf("%d columns, and 6 to 8 are wanted", len(f))
	}
	var l pgbenchLine
	if c := f[2][:min(len(f[2]), 1)]; c < "0" || c > "9" {
		l.outcome, f[2] = f[2], "0"
	}
	n := make([]int64, len(f))
	for i, one := range f {
		v, err := strconv.ParseInt(one, 10, 64)
		if err != nil || v < 0 {
			return pgbenchLine{}, fmt.Errorf("column %d is no number", i+1)
		}
		n[i] = v
	}
	switch {
	case n[0] > 1e6 || n[1] > math.MaxInt32 || n[3] > maxRequests:
		return pgbenchLine{}, errors.New("a client, transaction or script of that number is none")
	case n[4] > 1<<33 || n[5] >= 1e6:
		return pgbenchLine{}, errors.New("its end is no time")
	case n[2] > maxWindow.Microseconds() || len(n) > 6 && n[6] > maxWindow.Microseconds():
		return pgbenchLine{}, errors.New("its duration is none")
	}
	l.client, l.number, l.took, l.script = int(n[0]), int(n[1]), n[2], int(n[3])
	l.end, l.more = time.Unix(n[4], n[5]*1000), n[6:]
	return l, nil
}

// pgbenchLog reads the log.
func pgbenchLog(data []byte, span experiment.Span) (*result, error) {
	var list []pgbenchLine
	cut, err := eachLine(data, func(line []byte) error {
		l, err := parsePgbenchLine(string(line))
		switch {
		case err != nil:
			return err
		case len(list) > 0 && len(l.more) != len(list[0].more):
			return fmt.Errorf("%d columns, and %d in the lines before", 6+len(l.more), 6+len(list[0].more))
		case len(list) == maxRows:
			return tooMany()
		}
		list = append(list, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.Join(cut, incomplete("it tells of no transaction"))
	}
	out := newResult("pgbench", "log")
	r := pgbenchRows(out, list, span)
	if err := r.into(out); err != nil {
		return nil, errors.Join(cut, err)
	}
	if r.paced {
		out.forget("offered", pgbenchDue)
	} else {
		out.unknown("dropped", "nothing was skipped: the run was not paced (-R)")
		out.unknown("lateness_p99", "a closed loop without pacing has no schedule")
	}
	out.unknown("unfinished", "transactions that were open at the end are not told")
	return out, cut
}

// pgbenchRows makes rows of the lines.
func pgbenchRows(out *result, list []pgbenchLine, span experiment.Span) *rows {
	sample := pgbenchGaps(out, list)
	r := &rows{span: span, intended: true, partial: sample, noClock: sample}
	retried := len(list[0].more) == 2
	r.paced = retried || len(list[0].more) == 1 && pgbenchLagged(out, list)
	scripts := map[int]bool{}
	for _, l := range list {
		scripts[l.script] = true
	}
	clients := map[int]bool{}
	for _, l := range list {
		clients[l.client] = true
		one := row{begin: l.end.Add(-time.Duration(l.took) * time.Microsecond), took: time.Duration(l.took) * time.Microsecond, received: notTold, sent: notTold}
		if len(scripts) > 1 {
			one.request = scriptName(l.script)
		}
		if r.paced {
			one.late = time.Duration(min(l.more[0], l.took)) * time.Microsecond
		}
		switch l.outcome {
		case "":
		case "skipped":
			one.dropped = true
		default:
			one.failure = experiment.FailureOther
			r.untimed = true
		}
		r.add(one)
	}
	ids := slices.Sorted(maps.Keys(clients))
	out.note("the log is of clients %d to %d: with more than one thread (-j) each writes a file of its own", ids[0], ids[len(ids)-1])
	return r
}

// pgbenchLagged tells what a seventh column is: the lag of a schedule, which is hardly
// ever below the tens of microseconds in which a sleeper wakes, or a number of retries.
func pgbenchLagged(out *result, list []pgbenchLine) bool {
	column := make([]int64, 0, len(list))
	for _, l := range list {
		if l.outcome == "" {
			column = append(column, l.more[0])
		}
	}
	if len(column) == 0 {
		return true
	}
	slices.Sort(column)
	median := column[len(column)/2]
	if median >= 10 {
		out.note("the seventh column (median %d) is taken for the schedule lag of -R, in µs: latencies hold it", median)
		return true
	}
	out.note("the seventh column (median %d, largest %d) is taken for retries (--max-tries): each transaction counts once, with the time of all its tries", median, column[len(column)-1])
	return false
}

// pgbenchGaps tells why transactions are missing; empty if none is.
func pgbenchGaps(out *result, list []pgbenchLine) string {
	type seen struct{ least, most, count int }
	clients := map[int]seen{}
	for _, l := range list {
		s, met := clients[l.client]
		if !met {
			s.least = l.number
		}
		clients[l.client] = seen{least: min(s.least, l.number), most: max(s.most, l.number), count: s.count + 1}
	}
	missing := 0
	for _, s := range clients {
		missing += max(s.most-s.least+1-s.count, 0)
	}
	if missing == 0 {
		return ""
	}
	out.warn("%d transactions have no line, %d have one: the log is a sample (--sampling-rate), and has no rates", missing, len(list))
	return "the log is a sample: transactions have no line"
}
