package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// vegetaReport is what vegeta reduced. Times are in nanoseconds.
type vegetaReport struct {
	Latencies struct {
		P50 time.Duration `json:"50th"`
		P90 time.Duration `json:"90th"`
		P95 time.Duration `json:"95th"`
		P99 time.Duration `json:"99th"`
		Max time.Duration `json:"max"`
	} `json:"latencies"`
	BytesIn  vegetaSum        `json:"bytes_in"`
	BytesOut vegetaSum        `json:"bytes_out"`
	Earliest time.Time        `json:"earliest"`
	Duration time.Duration    `json:"duration"` // from the first send to the last one
	Wait     time.Duration    `json:"wait"`     // from then to the last end
	Requests int64            `json:"requests"`
	Rate     float64          `json:"rate"` // requests by Duration, in 1/s
	Statuses map[string]int64 `json:"status_codes"`
	Errors   []string         `json:"errors"` // each text once
}

type vegetaSum struct {
	Total uint64 `json:"total"`
}

// vegetaJSONReport reads vegeta report -type=json.
func vegetaJSONReport(data []byte, span experiment.Span) (*result, error) {
	var v vegetaReport
	if err := json.Unmarshal(data, &v); err != nil {
		if cutJSON(data, err) {
			return nil, incomplete("the report is cut off")
		}
		return nil, fmt.Errorf("it is no report of vegeta: %s", quoteError(err))
	}
	return v.result("report-json", span)
}

// vegetaTextReport reads vegeta report.
func vegetaTextReport(data []byte, span experiment.Span) (*result, error) {
	head, set, whole := bytes.Cut(data, []byte("Error Set:\n"))
	if !whole {
		return nil, incomplete("the report is cut off")
	}
	v := vegetaReport{Statuses: map[string]int64{}}
	for i, line := range strings.Split(strings.TrimSpace(string(head)), "\n") {
		name, rest, _ := strings.Cut(line, "[")
		_, values, _ := strings.Cut(rest, "]")
		if err := v.line(strings.TrimSpace(name), strings.TrimSpace(values)); err != nil {
			return nil, fmt.Errorf("line %d, %s, is none of a report of vegeta: %w", i+1, quote([]byte(line)), err)
		}
	}
	for line := range strings.Lines(string(set)) {
		v.Errors = append(v.Errors, strings.TrimSpace(line))
	}
	return v.result("report-text", span)
}

// line reads one line of the text.
func (v *vegetaReport) line(name, values string) (err error) {
	fields := strings.Split(values, ", ")
	switch name {
	case "Requests": // total, rate, throughput
		v.Requests, err = strconv.ParseInt(fields[0], 10, 64)
	case "Duration": // total, attack, wait
		return times(fields, new(time.Duration), &v.Duration, &v.Wait)
	case "Latencies": // min, mean, 50, 90, 95, 99, max
		l := &v.Latencies
		return times(fields, new(time.Duration), new(time.Duration), &l.P50, &l.P90, &l.P95, &l.P99, &l.Max)
	case "Bytes In":
		v.BytesIn.Total, err = strconv.ParseUint(fields[0], 10, 64)
	case "Bytes Out":
		v.BytesOut.Total, err = strconv.ParseUint(fields[0], 10, 64)
	case "Success": // rounded: the codes tell it
	case "Status Codes":
		for one := range strings.FieldsSeq(values) {
			code, text, _ := strings.Cut(one, ":")
			if v.Statuses[code], err = strconv.ParseInt(text, 10, 64); err != nil {
				break
			}
		}
	default:
		return errors.New("its name is unknown")
	}
	if err != nil {
		return errors.New("a number is wanted")
	}
	return nil
}

// times reads durations.
func times(fields []string, into ...*time.Duration) (err error) {
	if len(fields) != len(into) {
		return fmt.Errorf("%d durations are wanted", len(into))
	}
	for i, one := range fields {
		if *into[i], err = time.ParseDuration(one); err != nil {
			return errors.New("a duration is wanted")
		}
	}
	return nil
}

// result tells what follows from a report.
func (v *vegetaReport) result(format string, span experiment.Span) (*result, error) {
	if v.Requests == 0 {
		return nil, incomplete("it tells of no request")
	}
	if v.Requests > 1<<53 {
		return nil, fmt.Errorf("it tells of %d requests", v.Requests)
	}
	out := newResult("vegeta", format)
	out.Begin, out.Window = v.Earliest, v.Duration+v.Wait
	if v.Duration < 0 || v.Wait < 0 || out.Window <= 0 {
		return nil, fmt.Errorf("the attack took %s, and the wait for its last responses %s", v.Duration, v.Wait)
	}
	ok, mute, err := v.statuses(out)
	if err != nil {
		return nil, err
	}
	v.failures(out, v.Requests-ok-mute, mute)
	out.Total = experiment.Totals{
		Offered: v.Requests, Sent: v.Requests, OK: ok, Failed: v.Requests - ok,
		Statuses: out.Statuses, Errors: out.Errors,
	}
	seconds := out.Window.Seconds()
	out.set("throughput", float64(ok)/seconds)
	out.set("sent", float64(v.Requests)/seconds)
	out.set("requests_done", float64(v.Requests))
	out.set("error_rate", float64(v.Requests-ok)/float64(v.Requests))
	v.times(out, v.Requests-ok)
	vegetaHides(out)
	vegetaBodies(out, v.BytesIn.Total, v.BytesOut.Total)
	out.note("vegeta counts from the real send, so that requests which began late look fast")
	if v.Wait > v.Duration/50 && v.Duration > 0 {
		out.note("the window ends with the last response, %.3g s after the last request was sent: until then it sent %.4g/s", v.Wait.Seconds(), float64(v.Requests-1)/v.Duration.Seconds())
	}
	wholeRun(out, span)
	return out, nil
}

// statuses tells how many requests succeeded, and how many had no response.
func (v *vegetaReport) statuses(out *result) (ok, mute int64, err error) {
	out.Statuses = map[string]int64{}
	var sum float64
	for code, count := range v.Statuses {
		n, err := strconv.ParseUint(code, 10, 10)
		switch {
		case err != nil || count < 0:
			return 0, 0, fmt.Errorf("%d responses with the status %s", count, quote([]byte(code)))
		case n == 0:
			mute += count
		default:
			out.Statuses[strconv.FormatUint(n, 10)] += count
		}
		if n >= 200 && n < 400 {
			ok += count
		}
		sum += float64(count)
	}
	if sum != float64(v.Requests) {
		return 0, 0, fmt.Errorf("it tells of %d requests, and of the status of %.0f", v.Requests, sum)
	}
	return ok, mute, nil
}

// failures tells the kinds of failures. The report has each text of an error once,
// without its number.
func (v *vegetaReport) failures(out *result, status, mute int64) {
	out.Errors = map[string]int64{}
	if status > 0 {
		out.Errors[experiment.FailureStatus] = status
	}
	if mute == 0 {
		return
	}
	kinds := map[string]bool{}
	for _, text := range v.Errors {
		if code, _, _ := strings.Cut(text, " "); v.Statuses[code] == 0 && text != "" {
			kinds[failureOfGo(text)] = true
		}
	}
	names := slices.Sorted(maps.Keys(kinds))
	if len(names) == 1 {
		out.Errors[names[0]] = mute
		return
	}
	out.Errors[experiment.FailureOther] = mute
	out.note("%d requests had no response, and the report does not tell how many of which kind: %s", mute, strings.Join(names, ", "))
}

// times sets the percentiles.
func (v *vegetaReport) times(out *result, failed int64) {
	l := v.Latencies
	out.set("service_time_p50", l.P50.Seconds())
	out.set("service_time_p90", l.P90.Seconds())
	out.set("service_time_p95", l.P95.Seconds())
	out.set("service_time_p99", l.P99.Seconds())
	out.set("service_time_max", l.Max.Seconds())
	out.unknown("service_time_p999", "the report has no such percentile")
	out.note("vegeta estimates percentiles (t-digest): where few requests lie, one may lie between them")
	out.mixed(failed, v.Requests, "failures", "what attack writes")
	out.unknownAll("latency_", notIntended)
	out.unknownAll("failed_latency_", notIntended)
}
