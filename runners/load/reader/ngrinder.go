package reader

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// ngrinder reads report/output.csv of nGrinder ("download CSV" of a detailed report):
// one row a sampling interval, with means. Its columns and their meaning are those of
// net.grinder.SingleConsole.
func ngrinder() tool {
	return tool{name: "ngrinder", formats: "the CSV of its detailed report (DateTime,...)", detect: func(data []byte) format {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		if rest, ok := bytes.CutPrefix(data, []byte("DateTime")); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], ",;\t")) {
			return readNGrinder
		}
		return nil
	}}
}

// maxNGrinder bounds every number in a row.
const maxNGrinder = 1e12

// ngrinderTest is a test of the script, or all together.
type ngrinderTest struct {
	name               string // its description
	tests, errors, sum float64
	at                 map[string]int // columns
}

// ngrinderLog is what the rows come to.
type ngrinderLog struct {
	comma         string
	width         int
	all           ngrinderTest
	each          []ngrinderTest
	moments       []time.Time
	intervals     []float64 // seconds, of rows that tell it
	done, failed  []float64 // by row
	empty         int       // rows of zeroes
	ragged        bool      // a description holds the separator
	fewest, users float64   // virtual users
}

func readNGrinder(data []byte, span experiment.Span) (*result, error) {
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	head, rest, whole := strings.Cut(text, "\n")
	if !whole {
		return nil, incomplete("it is cut off inside its first line")
	}
	l, err := ngrinderHeader(strings.TrimRight(head, "\r"))
	if err != nil {
		return nil, err
	}
	var cut error
	for number := 2; rest != ""; number++ {
		line, after, ended := strings.Cut(rest, "\n")
		rest = after
		if !ended {
			cut = incomplete("it is cut off inside line %d", number)
			break
		}
		if line = strings.TrimRight(line, "\r"); line == "" {
			continue
		}
		if err := l.add(strings.Split(line, l.comma)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	out := newResult("ngrinder", "CSV")
	if err := l.tell(out); err != nil {
		return nil, errors.Join(cut, err)
	}
	if !span.IsZero() {
		out.warn("its moments have no time zone: no window can be cut out of it, and all rows count")
	}
	return out, cut
}

// ngrinderHeader finds the columns: those of all tests, and after each Description
// those of one.
func ngrinderHeader(head string) (*ngrinderLog, error) {
	l := &ngrinderLog{comma: strings.TrimPrefix(head, "DateTime"), fewest: math.Inf(1)}
	l.comma = l.comma[:min(len(l.comma), 1)]
	if l.comma == "" {
		return nil, fmt.Errorf("its header has one column")
	}
	columns := strings.Split(head, l.comma)
	l.width = len(columns)
	l.all.at = map[string]int{}
	at := l.all.at
	for i, name := range columns {
		if name == "Description" {
			at = map[string]int{}
			l.each = append(l.each, ngrinderTest{at: at})
		}
		if len(l.each) > 0 {
			if dash := strings.LastIndexByte(name, '-'); dash > 0 {
				name = name[:dash]
			}
		}
		if _, twice := at[name]; !twice {
			at[name] = i
		}
	}
	for _, of := range append([]ngrinderTest{l.all}, l.each...) {
		for _, name := range []string{"Tests", "Errors"} {
			if _, ok := of.at[name]; !ok {
				return nil, fmt.Errorf("its header lacks a column %s", name)
			}
		}
	}
	return l, nil
}

// add takes a row.
func (l *ngrinderLog) add(fields []string) error {
	switch {
	case len(fields) < l.width:
		return fmt.Errorf("%d fields, not %d", len(fields), l.width)
	case len(fields) > l.width && len(l.each) == 0:
		return fmt.Errorf("%d fields, not %d", len(fields), l.width)
	case len(fields) > l.width:
		l.ragged = true
	}
	moment, err := time.Parse(time.DateTime, fields[0])
	if err != nil {
		return fmt.Errorf("DateTime is %s", quote([]byte(fields[0])))
	}
	before := l.all
	if err := l.all.add(fields); err != nil {
		return err
	}
	tests, failed := l.all.tests-before.tests, l.all.errors-before.errors
	l.moments = append(l.moments, moment)
	l.done, l.failed = append(l.done, tests+failed), append(l.failed, failed)
	if tests+failed == 0 {
		l.empty++
	}
	if tps, err := l.all.field(fields, "TPS"); err == nil && tps > 0 && tests > 0 {
		l.intervals = append(l.intervals, tests/tps)
	}
	if users, err := l.all.field(fields, "vuser"); err == nil {
		l.fewest, l.users = min(l.fewest, users), max(l.users, users)
	}
	if l.ragged {
		return nil
	}
	for i := range l.each {
		one := &l.each[i]
		one.name = fields[one.at["Description"]]
		if err := one.add(fields); err != nil {
			return err
		}
	}
	return nil
}

// add sums up a row.
func (t *ngrinderTest) add(fields []string) error {
	tests, err := t.field(fields, "Tests")
	if err != nil {
		return err
	}
	failed, err := t.field(fields, "Errors")
	if err != nil {
		return err
	}
	t.tests, t.errors = t.tests+tests, t.errors+failed
	if mean, err := t.field(fields, "Mean_Test_Time_(ms)"); err == nil {
		t.sum += tests * mean / 1e3
	}
	return nil
}

func (t *ngrinderTest) field(fields []string, name string) (float64, error) {
	i, ok := t.at[name]
	if !ok {
		return 0, fmt.Errorf("no column %s", name)
	}
	v, err := strconv.ParseFloat(fields[i], 64)
	if err != nil || !(v >= 0 && v <= maxNGrinder) {
		return 0, fmt.Errorf("%s is %s", name, quote([]byte(fields[i])))
	}
	return v, nil
}

// interval is the length of a row: by the rates where they are told, else by the moments.
func (l *ngrinderLog) interval() float64 {
	lengths := l.intervals
	if len(lengths) == 0 {
		for i := 1; i < len(l.moments); i++ {
			lengths = append(lengths, l.moments[i].Sub(l.moments[i-1]).Seconds())
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[(len(lengths)-1)/2]
}

func (l *ngrinderLog) tell(out *result) error {
	if len(l.moments) == 0 {
		return incomplete("it tells of no interval")
	}
	interval := l.interval()
	if !(interval >= 0.001) {
		return fmt.Errorf("the length of its intervals does not show")
	}
	if err := out.lasted(interval * float64(len(l.moments))); err != nil {
		return err
	}
	l.all.tell(out, out.Window.Seconds())
	out.Total = l.all.totals()
	out.Errors = out.Total.Errors
	for i := range l.moments {
		at := int64(float64(i) * interval * 1e3)
		out.Series = append(out.Series, experiment.SeriesPoint{Metric: "done", AtMS: at, Value: l.done[i]})
	}
	for i := range l.moments {
		at := int64(float64(i) * interval * 1e3)
		out.Series = append(out.Series, experiment.SeriesPoint{Metric: "failed", AtMS: at, Value: l.failed[i]})
	}
	for _, prefix := range []string{"latency_", "service_time_", "failed_latency_"} {
		out.unknownAll(prefix, "it writes means, and no quantiles")
	}
	out.unknown("response_bytes", "it counts bodies without heads")
	out.unknown("bytes_received", "it counts bodies without heads")
	l.notes(out, interval)
	l.byTest(out)
	return nil
}

// tell sets what follows from the sums. Tests counts successes alone.
func (t *ngrinderTest) tell(out *result, seconds float64) {
	out.set("throughput", t.tests/seconds)
	out.set("requests_done", t.tests+t.errors)
	if t.tests+t.errors > 0 {
		out.set("error_rate", t.errors/(t.tests+t.errors))
	}
}

func (t *ngrinderTest) totals() experiment.Totals {
	ok, failed := wholeCount(t.tests), wholeCount(t.errors)
	out := experiment.Totals{Offered: ok + failed, Sent: ok + failed, OK: ok, Failed: failed}
	if failed > 0 {
		out.Errors = map[string]int64{experiment.FailureOther: failed}
	}
	return out
}

// wholeCount bounds a sum of counts.
func wholeCount(v float64) int64 { return int64(min(v, 1<<53)) }

func (l *ngrinderLog) notes(out *result, interval float64) {
	out.note("what it counts are tests of the script: one may hold several requests, or none")
	if l.all.sum > 0 {
		out.note("the mean time of its successes is %.4g s: there is no metric for a mean, and no quantile follows from it", l.all.sum/l.all.tests)
	}
	if l.empty > 0 {
		out.warn("%d of its %d rows hold zeroes alone: nGrinder writes them both where nothing was answered and where nothing was measured; they count in the window", l.empty, len(l.moments))
	}
	if l.users > l.fewest {
		out.warn("its virtual users were from %g to %g: the rows of the ramp count in the window", l.fewest, l.users)
	}
	covered := l.moments[len(l.moments)-1].Sub(l.moments[0]).Seconds() + interval
	if gap := math.Abs(covered - out.Window.Seconds()); gap > 2 && gap > 0.05*covered {
		out.warn("its %d rows of %.3g s lie within %.4g s: some are missing, or the controller's clock was set", len(l.moments), interval, covered)
	}
	if l.ragged {
		out.note("the description of a test holds the separator: tests are not told apart")
	}
}

// byTest tells of each test what is told of all.
func (l *ngrinderLog) byTest(out *result) {
	if l.ragged || len(l.each) < 2 {
		return
	}
	names := make([]string, 0, len(l.each))
	for _, one := range l.each {
		names = append(names, one.name)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) < len(names) {
		out.note("tests share a description: they are not told apart")
		return
	}
	if !nameable(out, names) {
		return
	}
	out.Requests = map[string]experiment.Totals{}
	for _, one := range l.each {
		of := newResult("", "")
		one.tell(of, out.Window.Seconds())
		for _, o := range of.Observations {
			o.Metric = experiment.MetricName{Base: o.Metric, Request: one.name}.String()
			out.Observations = append(out.Observations, o)
		}
		out.Requests[one.name] = one.totals()
	}
}
