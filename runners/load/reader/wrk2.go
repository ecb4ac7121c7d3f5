package reader

import (
	"regexp"

	"github.com/ceteris/ceteris/experiment"
)

// wrk2 is wrk2 (measured: the one that calls itself 4.0.0), whose output is a text.
//
// Requests, bytes and rates are over the whole run, latencies from its 11th second on:
// until then each thread calibrates itself. Latencies count from the intended start;
// --u_latency tells those from the real send as well. They hold all responses. Each 2 s it
// counts a timeout for every connection that waits longer than the timeout: the same
// request may count often, or never.
func wrk2() tool {
	return tool{name: "wrk2", formats: "its text with --latency or --u_latency (Running 30s test @ URL ... Thread calibration: ...)", detect: func(data []byte) format {
		if !hasText(data, "Running ") || !hasText(data, " test @ ") || hasText(data, "  Latency Distribution\n") {
			return nil // the last is wrk's
		}
		return asText(readWrk2)
	}}
}

var (
	wrk2Section    = regexp.MustCompile(`^\s+Latency Distribution \(HdrHistogram - (Recorded|Uncorrected) Latency`)
	wrk2Spectrum   = regexp.MustCompile(`^\s+([0-9.]+)\s+([01]\.[0-9]{6})\s+(\d+)\s+`)
	wrk2Max        = regexp.MustCompile(`^#\[Max\s+=\s+([0-9.]+), Total count\s+=\s+(\d+)\]`)
	wrk2Calibrated = regexp.MustCompile(`^\s+Thread calibration: mean lat\.: `)
)

func readWrk2(lines []string, span experiment.Span) (*result, error) {
	t, err := readWrkText("wrk2", lines)
	if err != nil {
		return nil, err
	}
	out := newResult("wrk2", "text")
	if err := t.counts(out, 0); err != nil {
		return nil, err
	}
	out.unknown("offered", "wrk2 does not write the rate that it was asked for (-R)")
	out.unknownAll("latency_", "wrk2 ran without --latency")
	out.unknownAll("service_time_", "only --u_latency tells it")
	measured := wrk2Times(out, lines)
	if v, ok := seconds(t.max); ok && measured == 0 && v > 0 {
		out.set("latency_max", v)
	}
	if measured > 0 {
		out.set("latency_count", float64(measured))
	}
	t.calibration(out, lines, measured)
	if t.timeout > 0 {
		out.warn("%d timeouts are no number of requests: each 2 s wrk2 counts every connection that waits longer than the timeout; the responses that came late are in the percentiles, and no failures here", t.timeout)
	}
	out.mixed(t.status, t.requests, "responses above 399", "")
	wholeRun(out, span)
	return out, nil
}

// calibration tells of the part of the run that has no latencies.
func (t *wrkText) calibration(out *result, lines []string, measured int64) {
	if firstMatch(lines, wrk2Calibrated) == nil {
		out.note("wrk2 did not come to the end of its calibration: the latencies are those of its first seconds")
		return
	}
	tell := out.note
	if t.seconds < 20 || (measured > 0 && measured < t.requests/2) {
		tell = out.warn
	}
	if measured > 0 {
		tell("the latencies are of %d of %d requests: those of the first 10 s of %.4g s are left out, which count in all other numbers", measured, t.requests, t.seconds)
	} else {
		tell("the latencies leave out the first 10 s of %.4g s, which count in all other numbers", t.seconds)
	}
}

// wrk2Times sets the quantiles, and gives the number of latencies behind them.
func wrk2Times(out *result, lines []string) (measured int64) {
	var section wrk2Quantiles
	for _, line := range lines {
		if m := wrk2Section.FindStringSubmatch(line); m != nil {
			section = wrk2Quantiles{prefix: map[string]string{"Recorded": "latency_", "Uncorrected": "service_time_"}[m[1]], of: map[string]float64{}}
		} else if m := wrk2Max.FindStringSubmatch(line); m != nil && section.prefix != "" && count(m[2]) > 0 {
			section.of["max"] = ms(m[1])
			section.tell(out)
			if section.prefix == "latency_" {
				measured = count(m[2])
			}
			section.prefix = ""
		} else if section.prefix != "" {
			section.line(line)
		}
	}
	return measured
}

// wrk2Quantiles are those of one distribution.
type wrk2Quantiles struct {
	prefix string // latency_; empty outside
	of     map[string]float64
}

// line reads a line of the list, which has the quantiles with 3 digits, or of the
// spectrum, which has some of them in ms with more.
func (s *wrk2Quantiles) line(line string) {
	listed := map[string]string{"50.000": "p50", "90.000": "p90", "99.000": "p99", "99.900": "p999"}
	spectrum := map[string]string{"0.500000": "p50", "0.900000": "p90", "0.950000": "p95"}
	if m := wrkQuantile.FindStringSubmatch(line); m != nil && listed[m[1]] != "" {
		if v, ok := seconds(m[2]); ok {
			s.of[listed[m[1]]] = v
		}
	} else if m := wrk2Spectrum.FindStringSubmatch(line); m != nil && spectrum[m[2]] != "" {
		s.of[spectrum[m[2]]] = ms(m[1])
	}
}

func (s *wrk2Quantiles) tell(out *result) {
	for _, q := range experiment.Quantiles() {
		if v, told := s.of[q.Name]; told && !out.has(s.prefix+q.Name) {
			out.set(s.prefix+q.Name, v)
		}
	}
}
