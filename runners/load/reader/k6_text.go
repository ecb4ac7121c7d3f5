package reader

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// k6Text reads the text at the end of a run: a metric a line,
//
//	http_req_duration....: avg=64.7ms min=60.21ms med=60.91ms max=501.19ms p(90)=61.53ms
//	  { expected_response:true }...: avg=61.12ms ...
//	http_req_failed......: 2.43%  3 out of 123        (before 1.0: 2.43% ✓ 3 ✗ 120)
//	http_reqs............: 123    40.431391/s
//
// and, unless k6 was quiet, the executor of each scenario before it.
func k6Text(data []byte, span experiment.Span) (*result, error) {
	s := k6Summary{format: "text", rounded: true, metrics: map[string]map[string]float64{}}
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	var scenarios, open int
	last := "" // metric
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(colours.ReplaceAllString(line, ""))
		if strings.HasPrefix(line, "* ") && strings.Contains(line, "gracefulStop") || strings.HasPrefix(line, "* default:") {
			scenarios++
			if strings.Contains(line, " iterations/s for ") {
				open++
			}
			continue
		}
		name, values, ok := strings.Cut(strings.TrimLeft(line, "✓✗ "), ": ")
		if !ok || !strings.HasSuffix(name, ".") {
			continue
		}
		switch name = strings.TrimRight(name, "."); {
		case name == "{ expected_response:true }":
			name = last + "{expected_response:true}"
		case strings.HasPrefix(name, "{"):
			continue
		default:
			last = name
		}
		if s.metrics[name] == nil { // those of all stand before those of a group or a scenario
			s.metrics[name] = k6Values(values)
		}
	}
	s.open = scenarios > 0 && open == scenarios
	if s.metrics["http_reqs"] == nil && s.metrics["iterations"] == nil {
		return nil, incomplete("the summary at its end is missing")
	}
	return s.result(span)
}

// k6Values reads what stands behind the name of a metric; what is not understood is
// left out.
func k6Values(text string) map[string]float64 {
	out := map[string]float64{}
	fields := strings.Fields(text)
	for _, one := range fields {
		if stat, value, ok := strings.Cut(one, "="); ok {
			if d, err := time.ParseDuration(value); err == nil {
				out[stat] = float64(d) / float64(time.Millisecond)
			}
		}
	}
	number := func(i int, suffix string) (float64, error) {
		if i >= len(fields) {
			return 0, errors.New("missing")
		}
		return strconv.ParseFloat(strings.TrimSuffix(fields[i], suffix), 64)
	}
	if rate, err := number(1, "/s"); err == nil && len(fields) == 2 {
		out["rate"] = rate
		if count, err := number(0, ""); err == nil {
			out["count"] = count
		}
	}
	if len(fields) < 5 {
		return out
	}
	switch first, err := number(1, ""); {
	case err == nil && fields[2] == "out": // of
		if all, err := number(4, ""); err == nil {
			out["passes"], out["fails"] = first, all-first
		}
	case fields[1] == "✓" && fields[3] == "✗":
		if passes, err := number(2, ""); err == nil {
			if fails, err := number(4, ""); err == nil {
				out["passes"], out["fails"] = passes, fails
			}
		}
	}
	return out
}
