package reader

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// vegeta is vegeta (measured: 12.13): the results of attack, what encode makes of them,
// and report as JSON or text.
//
// It counts from the real send: when a request was due is in no format. A response time
// includes the time to connect and to read the body whole. Redirects are followed, and a
// status from 200 to 399 is a success. Bytes are those of bodies; a failure without a
// response has code 0, no bytes, and an error as Go words it.
func vegeta() tool {
	return tool{
		name:    "vegeta",
		formats: "the results of an attack, as they are or as CSV or JSON, or a report of them (-type=json or text)",
		detect:  detectVegeta,
	}
}

func detectVegeta(data []byte) format {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	switch {
	case bytes.Contains(data[:min(len(data), 16)], []byte("\x06Result")):
		return vegetaGob
	case bytes.HasPrefix(line, []byte(`{"latencies"`)):
		return asSummary(vegetaJSONReport)
	case bytes.HasPrefix(line, []byte(`{`)) && bytes.Contains(line, []byte(`"latency"`)):
		return vegetaJSON
	case bytes.HasPrefix(line, []byte("Requests ")) && bytes.Contains(line, []byte("[total, rate")):
		return asSummary(vegetaTextReport)
	case bytes.HasPrefix(line, []byte("Bucket ")):
		return vegetaUseless("a histogram of buckets", "no response time more exact than its buckets")
	case bytes.HasPrefix(line, []byte("Value(ms)")):
		return vegetaUseless("a plot of percentiles", "neither failures nor rates, and its percentiles mix successes with failures")
	case vegetaCSVLine(line):
		return vegetaCSV
	}
	return nil
}

// vegetaUseless is a report from which no metric follows.
func vegetaUseless(what, lacks string) format {
	return func([]byte, experiment.Span) (*result, error) {
		return nil, fmt.Errorf("it is %s, which tells %s: give the results themselves, or vegeta report -type=json of them", what, lacks)
	}
}

// vegetaResult is a request; what else vegeta keeps of it (bodies, heads) is skipped
// where it stands, so that its sizes cannot matter.
type vegetaResult struct {
	Attack    string        `json:"attack"`
	Seq       uint64        `json:"seq"`
	Code      uint16        `json:"code"`
	Timestamp time.Time     `json:"timestamp"`
	Latency   time.Duration `json:"latency"`
	BytesOut  uint64        `json:"bytes_out"`
	BytesIn   uint64        `json:"bytes_in"`
	Error     string        `json:"error"`
}

// failure gives the kind of it; empty for a success.
func (v *vegetaResult) failure() string {
	switch {
	case v.Code >= 200 && v.Code < 400:
		return ""
	case v.Code != 0:
		return experiment.FailureStatus
	default:
		return failureOfGo(v.Error)
	}
}

// vegetaRows gathers requests.
type vegetaRows struct {
	out  *result
	rows rows
	in   uint64                     // bytes of bodies received
	sent uint64                     // bytes of bodies
	seen map[string]*vegetaSequence // by attack
}

// vegetaSequence tells which numbers of an attack were met.
type vegetaSequence struct{ count, highest uint64 }

func newVegetaRows(format string, span experiment.Span) *vegetaRows {
	return &vegetaRows{out: newResult("vegeta", format), rows: rows{span: span}, seen: map[string]*vegetaSequence{}}
}

func (r *vegetaRows) add(v *vegetaResult) error {
	if v.Latency < 0 || v.Timestamp.Year() < 1970 || v.Timestamp.Year() > 2200 {
		return fmt.Errorf("a request at %s that took %s", v.Timestamp.Format(time.RFC3339), v.Latency)
	}
	s := r.seen[v.Attack]
	if s == nil {
		s = &vegetaSequence{}
		r.seen[v.Attack] = s
	}
	s.count++
	s.highest = max(s.highest, v.Seq)
	before := len(r.rows.list)
	r.rows.add(row{
		begin: v.Timestamp, took: v.Latency, status: int32(v.Code), failure: v.failure(),
		received: notTold, sent: notTold,
	})
	if len(r.rows.list) > before {
		r.in += v.BytesIn
		r.sent += v.BytesOut
	}
	return nil
}

// lost is how many requests were sent and have no result: their numbers are missing
// below the highest one.
func (r *vegetaRows) lost() uint64 {
	var sum uint64
	for _, s := range r.seen {
		if s.highest >= s.count { // numbers begin at 0; one alone is not overtaken by results that were merged
			sum += s.highest + 1 - s.count
		}
	}
	return sum
}

// finish reduces what was gathered. cut is why the output ends too early, or nil.
func (r *vegetaRows) finish(cut error) (*result, error) {
	if err := r.rows.into(r.out); err != nil {
		return nil, errors.Join(cut, err)
	}
	vegetaHides(r.out)
	r.pauses()
	vegetaBodies(r.out, r.in, r.sent)
	r.out.note("the results do not tell whether the attack came to its end: vegeta writes them as it goes")
	r.out.note("the results hold headers and bodies of responses, and are kept as they are")
	if lost := r.lost(); cut == nil && lost > 0 {
		cut = incomplete("%d requests have no result: their numbers are missing", lost)
	}
	return r.out, cut
}

// vegetaHides tells what no format of vegeta has.
func vegetaHides(out *result) {
	out.unknown("offered", "vegeta does not tell when a request was due, nor the rate that was asked for")
	out.unknown("dropped", "vegeta drops nothing: where all its workers are busy, requests begin late")
	out.unknown("lateness_p99", "vegeta does not tell when a request was due")
	out.unknown("unfinished", "a request that was open when vegeta was stopped has no result")
	out.unknown("connects", "vegeta does not tell which requests opened a connection")
	for _, m := range []string{"bytes_sent", "bytes_received", "response_bytes"} {
		out.unknown(m, "vegeta counts the bytes of bodies alone, without heads")
	}
}

func vegetaBodies(out *result, in, sent uint64) {
	out.note("vegeta counts bodies alone: %d B received, %d B sent", in, sent)
}

// pauses shows what a count from the real send may hide: the longest time in which
// nothing was sent, beside the mean.
func (r *vegetaRows) pauses() {
	list := r.rows.list // in the order of their begins
	var longest time.Duration
	for i := 1; i < len(list); i++ {
		longest = max(longest, list[i].begin.Sub(list[i-1].begin))
	}
	if len(list) < 2 {
		return
	}
	mean := list[len(list)-1].begin.Sub(list[0].begin) / time.Duration(len(list)-1)
	r.out.note("vegeta counts from the real send, so that requests which began late look fast: the longest time without a send was %.3g s, the mean %.3g s", longest.Seconds(), mean.Seconds())
}
