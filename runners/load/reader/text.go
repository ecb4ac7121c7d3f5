package reader

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxText is the longest text for people that is read, in bytes.
const maxText = 16 << 20

// asText is a format of lines for people. What a progress bar wrote over ends a line as
// well.
func asText(read func(lines []string, span experiment.Span) (*result, error)) format {
	return func(data []byte, span experiment.Span) (*result, error) {
		if len(data) > maxText {
			return nil, fmt.Errorf("it is longer than %d bytes: no summary is", maxText)
		}
		lines := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '\r' || r == '\b' })
		return read(lines, span)
	}
}

// firstMatch gives the groups of the first line that matches; nil for none.
func firstMatch(lines []string, re *regexp.Regexp) []string {
	for _, line := range lines {
		if m := re.FindStringSubmatch(line); m != nil {
			return m
		}
	}
	return nil
}

// hasText reports whether one of several texts is in the output.
func hasText(data []byte, texts ...string) bool {
	for _, one := range texts {
		if bytes.Contains(data[:min(len(data), maxText)], []byte(one)) {
			return true
		}
	}
	return false
}

// count reads a number of requests; what is none is 0, and what is too large the
// largest that sums of few do not overflow.
func count(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil && n == 0 {
		return 0
	}
	return int64(min(n, 1<<53))
}

// number reads a number without a unit.
func number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// ms reads milliseconds; what is no number is none that result.set takes.
func ms(text string) float64 {
	v, ok := number(text)
	if !ok {
		return math.NaN()
	}
	return v / 1e3
}

var quantityPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([A-Za-zµ]*)$`)

// scaled reads a number with one of the units.
func scaled(text string, units map[string]float64) (float64, bool) {
	m := quantityPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	unit, known := units[m[2]]
	v, ok := number(m[1])
	return v * unit, known && ok
}

// seconds reads a time with its unit: 669.39us, 2.74ms, 1.07s, 1.20m, 2h.
func seconds(text string) (float64, bool) {
	return scaled(text, map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600})
}

// binary reads bytes in units of 1024: 5066B, 157.84KB, 1.20MB.
func binary(text string) (float64, bool) {
	return scaled(text, map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50})
}

// lasted sets the window's length, in seconds.
func (r *result) lasted(seconds float64) error {
	if !(seconds > 0 && seconds <= maxWindow.Seconds()) { // NaN neither
		return fmt.Errorf("it lasted %g s", seconds)
	}
	r.Window = time.Duration(seconds * float64(time.Second))
	return nil
}

// setText sets a metric that a text tells; what it cannot be read from stays unknown.
func (r *result) setText(metric, text string, read func(string) (float64, bool)) {
	if v, ok := read(text); ok {
		r.set(metric, v)
	}
}

// setClosed sets a quantile of a closed loop without pacing, in which the response time
// is the service time.
func (r *result) setClosed(quantile string, value float64) {
	r.set("latency_"+quantile, value)
	r.set("service_time_"+quantile, value)
}

// slug makes a name of a request of any text: "MSET (10 keys)" is MSET_10_keys. Nothing
// is left of one without a letter.
func slug(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	return strings.TrimLeft(strings.Join(words, "_"), "0123456789-_")
}
