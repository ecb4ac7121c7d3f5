package reader

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// hey reads what hey writes (known: 0.1.4): its summary, and the CSV of -o csv. It
// counts from the real send, over responses of whatever status. It may have been paced
// (-q), and does not say so. Both are written at its end, of a million responses at most
// (requester/report.go).
func hey() tool {
	return tool{name: "hey", formats: "its summary, or the CSV of -o csv", detect: func(data []byte) format {
		switch begin := bytes.TrimSpace(data[:min(len(data), 200)]); {
		case bytes.HasPrefix(begin, []byte("response-time,")):
			return readHeyCSV
		case bytes.HasPrefix(begin, []byte("Summary:")):
			return readHeySummary
		}
		return nil
	}}
}

const (
	heyMost = 1000000                // responses that are kept
	heyStep = 100 * time.Microsecond // in which times are written
)

var (
	heyNumber   = regexp.MustCompile(`^  (Total|Slowest|Requests/sec):\t([0-9.]+)`)
	heyQuantile = regexp.MustCompile(`^  (\d+)%+ in ([0-9.]+) secs`)
	heyCount    = regexp.MustCompile(`^  \[(\d+)\]\t(\d+) responses$`)
	heyError    = regexp.MustCompile(`^  \[(\d+)\]\t(.*)`)
	heyStatuses = regexp.MustCompile(`^Status code distribution:`)
)

// heySummary is what the summary tells.
type heySummary struct {
	total, rate, slowest float64
	quantiles            map[string]float64
	statuses, errors     map[string]int64
	ok, bad, lost        int64 // responses below and above 399, failures without one
}

// readHeySummary wants the line break that hey writes last.
func readHeySummary(data []byte, span experiment.Span) (*result, error) {
	if data[len(data)-1] != '\n' {
		return nil, incomplete("it is cut off inside its last line")
	}
	return asText(readHey)(data, span)
}

func readHey(lines []string, span experiment.Span) (*result, error) {
	s := parseHey(lines)
	if firstMatch(lines, heyStatuses) == nil {
		return nil, incomplete("its status codes are missing: it is cut off")
	}
	responses, done := s.ok+s.bad, s.ok+s.bad+s.lost
	capped := responses == heyMost
	if told := s.total * s.rate; !capped && math.Abs(told-float64(done)) > 1+told/1000 {
		return nil, incomplete("it tells of %.0f requests, and has the outcome of %d: it is cut off", told, done)
	}
	if done == 0 {
		return nil, incomplete("it tells of no request")
	}
	out := newResult("hey", "summary")
	if err := out.lasted(s.total); err != nil {
		return nil, err
	}
	out.Statuses, out.Errors = s.statuses, s.errors
	out.Total = experiment.Totals{Offered: done, Sent: done, OK: s.ok, Failed: s.bad + s.lost, Statuses: s.statuses, Errors: s.errors}
	if capped {
		s.capped(out)
	} else {
		out.set("throughput", float64(s.ok)/s.total)
		out.set("sent", float64(done)/s.total)
		out.set("requests_done", float64(done))
		out.set("error_rate", float64(s.bad+s.lost)/float64(done))
	}
	s.times(out)
	heyUnknown(out)
	if s.lost > 0 {
		out.warn("%d of %d requests had no response: they are in no quantile and not in the maximum", s.lost, done)
	}
	out.mixed(s.bad, responses, "responses above 399", "its CSV (-o csv)")
	wholeRun(out, span)
	return out, nil
}

// capped tells of a run of more responses than hey keeps.
func (s *heySummary) capped(out *result) {
	const why = "hey keeps the outcome of its first 1000000 responses alone"
	for _, m := range []string{"throughput", "error_rate"} {
		out.unknown(m, why)
	}
	out.set("sent", s.rate)
	out.set("requests_done", math.Round(s.rate*s.total))
	out.warn("statuses and quantiles are of the first %d of %.0f requests: hey keeps no more", heyMost, s.rate*s.total)
}

func parseHey(lines []string) *heySummary {
	s := &heySummary{quantiles: map[string]float64{}, statuses: map[string]int64{}, errors: map[string]int64{}}
	inErrors := false
	for _, line := range lines {
		if strings.HasPrefix(line, "Error distribution:") {
			inErrors = true
		}
		if m := heyNumber.FindStringSubmatch(line); m != nil {
			v, _ := number(m[2])
			switch m[1] {
			case "Total":
				s.total = v
			case "Slowest":
				s.slowest = v
			default:
				s.rate = v
			}
		}
		if m := heyQuantile.FindStringSubmatch(line); m != nil {
			s.quantiles["p"+m[1]], _ = number(m[2])
		}
		if m := heyCount.FindStringSubmatch(line); m != nil && !inErrors {
			s.status(m[1], min(count(m[2]), 1<<40))
		} else if m := heyError.FindStringSubmatch(line); m != nil && inErrors {
			n := min(count(m[1]), 1<<40)
			s.lost += n
			s.errors[failureOfGo(m[2])] += n
		}
	}
	return s
}

func (s *heySummary) status(code string, n int64) {
	s.statuses[code] += n
	if status, err := strconv.Atoi(code); err == nil && status < 400 {
		s.ok += n
		return
	}
	s.bad += n
	s.errors[experiment.FailureStatus] += n
}

// times sets the quantiles. One that hey had too few responses for is 0.
func (s *heySummary) times(out *result) {
	out.unknownAll("service_time_", "hey tells p50, p75, p90, p95, p99 and the slowest, and those that it had enough responses for")
	if s.ok == 0 {
		out.unknownAll("service_time_", "there is no such request")
		return
	}
	for _, q := range experiment.Quantiles() {
		if v := s.quantiles[q.Name]; v > 0 {
			out.set("service_time_"+q.Name, v)
		}
	}
	if s.slowest > 0 {
		out.set("service_time_max", s.slowest)
	}
	out.coarse(heyStep, "service_time_")
}

func heyUnknown(out *result) {
	out.unknownAll("latency_", "hey counts from the real send, and does not tell whether it was paced (-q)")
	out.unknownAll("failed_latency_", "hey does not tell how long its failures took")
	out.unknown("bytes_received", "hey counts bodies without heads")
	out.unknown("response_bytes", "hey counts bodies without heads")
}

// readHeyCSV reads a row a response. Moments count from the begin of the run.
func readHeyCSV(data []byte, span experiment.Span) (*result, error) {
	out := newResult("hey", "CSV")
	gathered := rows{partial: "requests without a response have no row"}
	var at map[string]int
	cut, err := eachRecord(data, csv.NewReader(bytes.NewReader(data)), func(fields []string) error {
		if at == nil {
			at = map[string]int{}
			for i, name := range fields {
				at[name] = i
			}
			return nil
		}
		one, err := heyRow(fields, at)
		if err != nil {
			return err
		}
		gathered.add(one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := gathered.into(out); err != nil {
		return nil, errors.Join(cut, err)
	}
	out.Begin = time.Time{} // no time of day is told
	out.warn("requests that failed without a response have no row: how many there were is not told here (the summary tells it)")
	if len(gathered.list) == heyMost {
		out.warn("it ends with its row %d: hey keeps no more", heyMost)
	}
	heyUnknown(out)
	out.coarse(heyStep, "service_time_")
	wholeRun(out, span)
	return out, cut
}

func heyRow(fields []string, at map[string]int) (row, error) {
	value := func(name string) (time.Duration, error) {
		i, ok := at[name]
		if !ok {
			return 0, fmt.Errorf("there is no column %s", name)
		}
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(v >= 0 && v <= maxWindow.Seconds()) {
			return 0, fmt.Errorf("%s is %s", name, quote([]byte(fields[i])))
		}
		return time.Duration(math.Round(v * 1e9)), nil
	}
	one := row{received: notTold, sent: notTold}
	took, err := value("response-time")
	if err != nil {
		return one, err
	}
	offset, err := value("offset")
	if err != nil {
		return one, err
	}
	i, ok := at["status-code"]
	if !ok {
		return one, fmt.Errorf("there is no column status-code")
	}
	status, err := strconv.Atoi(fields[i])
	if err != nil || status < 100 || status > 999 {
		return one, fmt.Errorf("status-code is %s", quote([]byte(fields[i])))
	}
	one.status = int32(status)
	one.begin, one.took = time.Unix(0, 0).Add(offset), took
	if one.status >= 400 {
		one.failure = experiment.FailureStatus
	}
	return one, nil
}
