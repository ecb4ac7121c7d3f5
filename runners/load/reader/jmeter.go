package reader

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// jmeter reads the sample log (JTL) of Apache JMeter as 2.13 and 5.x write it. A sample
// is a request; one within another (a redirect, an embedded resource) is part of it, and
// one of a transaction controller is no request.
func jmeter() tool {
	return tool{name: "jmeter", formats: "a sample log (JTL), CSV or XML", detect: func(data []byte) format {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		switch {
		case bytes.HasPrefix(data, []byte("<?xml")), bytes.HasPrefix(data, []byte("<testResults")):
			return readJMeterXML
		case layoutOfJMeter(data) != nil:
			return readJMeterCSV
		}
		return nil
	}}
}

const (
	maxJMeterTime    = int64(1e13)                          // ms since 1970: the year 2286
	maxJMeterElapsed = int64(maxWindow / time.Millisecond)  // ms
	transactionMark  = "Number of samples in transaction :" // begins the message of a transaction controller
)

// jmeterSample is what both formats tell of a sample.
type jmeterSample struct {
	stamp, elapsed int64 // ms; the stamp is the begin, or the end: see jmeterLog.ends
	label, thread  string
	code, message  string
	success        bool
	bytes, sent    int64 // notTold
}

// check bounds the numbers.
func (s jmeterSample) check() error {
	switch {
	case s.stamp < 0 || s.stamp > maxJMeterTime:
		return fmt.Errorf("time stamp %d is no Unix time in milliseconds", s.stamp)
	case s.elapsed < 0 || s.elapsed > maxJMeterElapsed:
		return fmt.Errorf("an elapsed time of %d ms", s.elapsed)
	}
	return nil
}

// errStamp is a time stamp of another form than milliseconds.
func errStamp(stamp string) error {
	return fmt.Errorf("time stamp %s is no Unix time in milliseconds: set jmeter.save.saveservice.timestamp_format=ms", quote([]byte(stamp)))
}

// row gives the sample as a request. Where no response came, the bytes are those of a
// stack trace.
func (s jmeterSample) row() row {
	out := row{begin: time.UnixMilli(s.stamp), took: time.Duration(s.elapsed) * time.Millisecond, received: s.bytes, sent: s.sent, request: s.label}
	if status, err := strconv.Atoi(s.code); err == nil && status >= 100 && status <= 999 {
		out.status = int32(status)
	}
	switch {
	case s.success:
	case out.status == 0:
		out.failure, out.received, out.sent = failureOfJava(s.code+" "+s.message), notTold, notTold
	case out.status < 400:
		out.failure = experiment.FailureBody // an assertion of the plan
	default:
		out.failure = experiment.FailureStatus
	}
	return out
}

// within reports whether a sample that was written after another one of its thread is
// part of it. 5.x writes both, and names the part LABEL-0.
func (s jmeterSample) within(whole jmeterSample) bool {
	number, ok := strings.CutPrefix(s.label, whole.label+"-")
	if !ok || number == "" || strings.Trim(number, "0123456789-") != "" {
		return false
	}
	const slack = 1 // ms
	begins := s.stamp >= whole.stamp-slack && s.stamp+s.elapsed <= whole.stamp+whole.elapsed+slack
	ends := s.stamp <= whole.stamp+slack && s.stamp-s.elapsed >= whole.stamp-whole.elapsed-slack
	return begins || ends
}

// jmeterLog gathers samples in the order in which they were written.
type jmeterLog struct {
	requests, transactions rows
	claimed                int64                   // requests of which the transactions tell
	parts                  int                     // samples within others
	last                   map[string]jmeterSample // of each thread
	interned               map[string]string

	// Samples of a thread that overlap if stamps are begins, or if they are ends.
	asBegins, asEnds int
}

func newJMeterLog() *jmeterLog {
	return &jmeterLog{last: map[string]jmeterSample{}, interned: map[string]string{}}
}

// intern keeps one copy of a text that many samples share.
func (l *jmeterLog) intern(s string) string {
	kept, ok := l.interned[s]
	if !ok {
		kept = strings.Clone(s)
		l.interned[kept] = kept
	}
	return kept
}

// add takes a sample, and reports whether it is a transaction.
func (l *jmeterLog) add(s jmeterSample) (transaction bool) {
	s.label, s.thread = l.intern(s.label), l.intern(s.thread)
	if text, ok := strings.CutPrefix(s.message, transactionMark); ok {
		number, _, _ := strings.Cut(text, ",")
		n, _ := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		l.claimed += max(n, 0)
		l.transactions.add(s.row())
		return true
	}
	if before, ok := l.last[s.thread]; ok && s.thread != "" {
		if s.within(before) {
			l.parts++
			return false
		}
		const slack = 1 // ms
		if s.stamp+slack < before.stamp+before.elapsed {
			l.asBegins++
		}
		if s.stamp-s.elapsed+slack < before.stamp {
			l.asEnds++
		}
	}
	one := s.row()
	s.code, s.message = "", ""
	l.last[s.thread] = s
	l.requests.add(one)
	return false
}

// result reduces what was gathered. Of a log that was cut off, cut says so.
func (l *jmeterLog) result(format string, span experiment.Span, cut error) (*result, error) {
	out := newResult("jmeter", format)
	l.whole(out, cut != nil)
	if l.asEnds == 0 && l.asBegins > 0 {
		out.note("its time stamps are ends (sampleresult.timestamp.start=false): the begin of a request is reckoned from its end")
		for i, one := range l.requests.list {
			l.requests.list[i].begin = one.begin.Add(-one.took)
		}
	} else if l.asEnds == 0 {
		out.note("whether its time stamps are begins or ends does not show: they are read as begins")
	}
	gathered := rows{span: span, over: l.requests.over, list: l.requests.list[:0]} // where they stand: they may be many
	for _, one := range l.requests.list {
		if one.failure != "" && one.status == 0 {
			out.unknown("bytes_received", "of requests without a response it writes the length of an error in the place of their bytes")
			out.unknown("bytes_sent", "of requests without a response the bytes are not told")
		}
		gathered.add(one)
	}
	if err := gathered.into(out); err != nil {
		return nil, errors.Join(cut, err)
	}
	out.coarse(time.Millisecond, "service_time_")
	return out, cut
}

// whole tells which samples are no requests of their own. A log with transactions alone
// is one of requests that were not written.
func (l *jmeterLog) whole(out *result, cut bool) {
	if l.parts > 0 {
		out.note("%d requests are parts of others (hops of a redirect, embedded resources) and counted in them: the target saw more requests than these", l.parts)
	}
	switch n := len(l.transactions.list); {
	case n == 0:
	case len(l.requests.list) == 0:
		out.warn("all of its %d samples are transactions, of %d requests that it does not tell of: counts and times are those of transactions", n, l.claimed)
		l.requests = l.transactions
	case l.claimed > int64(len(l.requests.list)) && !cut:
		out.warn("%d transactions are not counted, and of their %d requests it tells of %d at most: those of transactions with a generated parent sample are missing", n, l.claimed, len(l.requests.list))
	default:
		out.note("%d transactions are not counted: the requests in them are", n)
	}
}

// lacking notes the columns that are not there, and what they would tell.
func lacking(out *result, missing map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		out.note("it has no %s: %s", name, missing[name])
	}
}

// failureOfJava gives the kind of a failure as JMeter words it: an exception and its
// message.
func failureOfJava(text string) string {
	for _, one := range []struct{ has, kind string }{
		{"Connection refused", experiment.FailureRefused},
		{"ConnectTimeout", experiment.FailureConnect},
		{"onnect timed out", experiment.FailureConnect},
		{"Connection timed out", experiment.FailureConnect},
		{"imeout", experiment.FailureTimeout}, // SocketTimeoutException, InterruptedIOException: timeout
		{"timed out", experiment.FailureTimeout},
		{"Connection reset", experiment.FailureReset},
		{"roken pipe", experiment.FailureReset},
		{"NoHttpResponse", experiment.FailureEOF},
		{"ConnectionClosed", experiment.FailureEOF},
		{"TruncatedChunk", experiment.FailureEOF},
		{"EOFException", experiment.FailureEOF},
		{"remature", experiment.FailureEOF}, // end of a content-length body
		{"ocket closed", experiment.FailureEOF},
		{"Unexpected end", experiment.FailureEOF},
		{"SSL", experiment.FailureTLS},
		{"UnknownHost", experiment.FailureConnect},
		{"NoRouteToHost", experiment.FailureConnect},
		{"ConnectException", experiment.FailureConnect},
		{"BindException", experiment.FailureConnect},
		{"Network is unreachable", experiment.FailureConnect},
		{"MalformedChunk", experiment.FailureProtocol},
		{"ProtocolException", experiment.FailureProtocol},
		{"HttpException", experiment.FailureProtocol},
	} {
		if strings.Contains(text, one.has) {
			return one.kind
		}
	}
	return experiment.FailureOther
}
