package reader

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ceteris/ceteris/experiment"
)

// The columns of a log without a header, by version (CSVSaveService and the defaults of
// jmeter.properties).
func jmeter2Columns() []string {
	return []string{"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success", "bytes", "grpThreads", "allThreads", "Latency"}
}

func jmeter5Columns() []string {
	return []string{
		"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success", "failureMessage",
		"bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect",
	}
}

// jmeterLayout is how a log is laid out.
type jmeterLayout struct {
	comma  rune
	header bool
	width  int
	at     map[string]int // of a column
}

func layout(comma rune, header bool, columns []string) *jmeterLayout {
	out := &jmeterLayout{comma: comma, header: header, width: len(columns), at: map[string]int{}}
	for i, name := range columns {
		if _, twice := out.at[name]; !twice { // a variable may be named like a column
			out.at[name] = i
		}
	}
	return out
}

// layoutOfJMeter looks at the begin of a log; nil if it is none.
func layoutOfJMeter(data []byte) *jmeterLayout {
	begin := data[:min(len(data), 64<<10)]
	name := begin[:max(bytes.IndexFunc(begin, func(c rune) bool { return !unicode.IsLetter(c) }), 0)]
	if comma, _ := utf8.DecodeRune(begin[len(name):]); slices.Contains(append(jmeter5Columns(), "SampleCount"), string(name)) && validComma(comma) {
		columns, err := firstRecord(begin, comma)
		if err == nil && slices.Contains(columns, "elapsed") {
			return layout(comma, true, columns)
		}
		return nil
	}
	for _, comma := range ",\t;|" {
		first, err := firstRecord(begin, comma)
		if err != nil || len(first) < 8 || first[7] != "true" && first[7] != "false" {
			continue
		}
		if len(first) == len(jmeter2Columns()) {
			return layout(comma, false, jmeter2Columns())
		}
		known := layout(comma, false, jmeter5Columns())
		known.width = len(first) // one that is not known is refused in known.missing
		return known
	}
	return nil
}

func validComma(c rune) bool {
	return c != 0 && c != '"' && c != '\r' && c != '\n' && c != utf8.RuneError && !unicode.IsLetter(c)
}

func firstRecord(data []byte, comma rune) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = comma
	return r.Read()
}

// missing says what the log must have and lacks.
func (l *jmeterLayout) missing() error {
	if !l.header && l.width != len(jmeter2Columns()) && l.width != len(jmeter5Columns()) {
		return fmt.Errorf("it has no header, and %d columns that are not those of a default: set jmeter.save.saveservice.print_field_names=true", l.width)
	}
	needs := map[string]string{"timeStamp": "timestamp_format=ms", "elapsed": "time=true", "success": "successful=true"}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if _, ok := l.at[name]; !ok {
			return fmt.Errorf("it has no column %s: set jmeter.save.saveservice.%s", name, needs[name])
		}
	}
	return nil
}

func readJMeterCSV(data []byte, span experiment.Span) (*result, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !bytes.ContainsRune(data, '\n') {
		return nil, incomplete("it is cut off inside its first line")
	}
	l := layoutOfJMeter(data)
	if err := l.missing(); err != nil {
		return nil, err
	}
	samples := newJMeterLog()
	cut, err := l.read(data, samples)
	if err != nil {
		return nil, err
	}
	out, err := samples.result("CSV", span, cut)
	if out != nil {
		lacking(out, l.lacks())
	}
	return out, err
}

// lacks are the columns that are missed, and what for.
func (l *jmeterLayout) lacks() map[string]string {
	out := map[string]string{}
	for name, why := range map[string]string{
		"responseCode":    "statuses and kinds of failures are not known",
		"responseMessage": "a transaction cannot be told from a request",
		"threadName":      "a request within another one cannot be told from others",
		"label":           "kinds of requests are not told apart",
	} {
		if _, ok := l.at[name]; !ok {
			out[name] = why
		}
	}
	return out
}

// read gathers the samples; cut says where the log ends inside one.
func (l *jmeterLayout) read(data []byte, into *jmeterLog) (cut, err error) {
	in := csv.NewReader(bytes.NewReader(data))
	in.Comma, in.FieldsPerRecord = l.comma, -1
	header := l.header
	return eachRecord(data, in, func(fields []string) error {
		if header {
			header = false
			return nil
		}
		one, err := l.sample(fields)
		if err != nil {
			return err
		}
		into.add(one)
		return nil
	})
}

func (l *jmeterLayout) sample(fields []string) (jmeterSample, error) {
	if len(fields) != l.width {
		return jmeterSample{}, fmt.Errorf("%d fields, not %d", len(fields), l.width)
	}
	field := func(name string) string {
		if i, ok := l.at[name]; ok {
			return fields[i]
		}
		return ""
	}
	s := jmeterSample{
		label: field("label"), thread: field("threadName"), code: field("responseCode"), message: field("responseMessage"),
		bytes: bytesTold(field("bytes")), sent: bytesTold(field("sentBytes")),
	}
	if err := s.numbers(field("timeStamp"), field("elapsed"), field("SampleCount")); err != nil {
		return s, err
	}
	switch strings.ToLower(field("success")) {
	case "true":
		s.success = true
	case "false":
	default:
		return s, fmt.Errorf("success is %s", quote([]byte(field("success"))))
	}
	return s, s.check()
}

// numbers parses what both formats write as text.
func (s *jmeterSample) numbers(stamp, elapsed, count string) (err error) {
	if s.stamp, err = strconv.ParseInt(stamp, 10, 64); err != nil {
		return errStamp(stamp)
	}
	if s.elapsed, err = strconv.ParseInt(elapsed, 10, 64); err != nil {
		return fmt.Errorf("elapsed time %s is no number", quote([]byte(elapsed)))
	}
	if count != "" && count != "1" && count != "0" {
		return fmt.Errorf("one row tells of %s samples together: set mode=Standard", quote([]byte(count)))
	}
	return nil
}

// bytesTold parses a number of bytes; notTold if there is none.
func bytesTold(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<50 {
		return notTold
	}
	return n
}
