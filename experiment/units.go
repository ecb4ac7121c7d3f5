package experiment

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Values are converted to base units on the way in (seconds, bytes, fractions,
// 1/s) and get prefixes only when they are printed.

// ParsePort reads a TCP port, 1 to 65535.
func ParsePort(s string) (int, error) {
	p, err := strconv.ParseUint(s, 10, 16)
	if err != nil || p == 0 {
		return 0, fmt.Errorf("%q is no port (1 to 65535)", s)
	}
	return int(p), nil
}

var errNoUnit = errors.New("has no unit")

// MaxDuration bounds every duration of a matrix; above it is surely a slip.
const MaxDuration = 7 * 24 * time.Hour

// durationPattern is the form of a duration, whatever its length.
var durationPattern = regexp.MustCompile(`^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$`)

// ParseDuration reads a duration with its unit (200us, 2ms, 5s, 10m, 8h), from
// 0 to MaxDuration.
func ParseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil && s != "0" {
		return 0, fmt.Errorf("%q %w (as in %ss or %sms)", s, errNoUnit, s, s)
	}
	d, err := time.ParseDuration(s)
	if err != nil && durationPattern.MatchString(s) { // more than the type holds
		d, err = math.MaxInt64, nil
		if s[0] == '-' {
			d = math.MinInt64
		}
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration (as in 200us, 2ms, 5s, 10m)", s)
	case d < 0:
		return 0, fmt.Errorf("%q is negative", s)
	case d > MaxDuration:
		return 0, fmt.Errorf("%q is longer than 7 days", s)
	}
	return d, nil
}

var sizePattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)$`)

func sizeUnits() map[string]float64 {
	return map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
}

// ParseSize reads a size with its unit (256MiB, 1GB) in bytes, at most 1 PiB.
func ParseSize(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is no size (as in 256MiB, 1GB)", s)
	}
	if m[2] == "" {
		return 0, fmt.Errorf("%q %w (as in %sMiB)", s, errNoUnit, s)
	}
	unit, ok := sizeUnits()[m[2]]
	if !ok {
		return 0, fmt.Errorf("%q: unknown unit %q (B, kB, MB, GB, KiB, MiB, GiB)", s, m[2])
	}
	v, err := parseFloat(m[1])
	if err != nil || v*unit > 1<<50 {
		return 0, fmt.Errorf("%q is larger than 1 PiB", s)
	}
	return int64(math.Round(v * unit)), nil
}

// parseFloat reads a number. One too large for the type is infinite, so that it
// lies above every limit; NaN is none.
func parseFloat(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if math.IsInf(v, 0) {
		return v, nil
	}
	if err == nil && math.IsNaN(v) {
		return 0, strconv.ErrSyntax
	}
	return v, err
}

// ParseFraction reads 3% or 0.03 as 0.03; the result lies in [0, 1].
func ParseFraction(s string) (float64, error) {
	text, percent := strings.CutSuffix(s, "%")
	v, err := parseFloat(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%q is no share (as in 3%% or 0.03)", s)
	}
	if percent {
		v /= 100
	}
	if v < 0 || v > 1 {
		return 0, fmt.Errorf("%q lies outside 0%% to 100%%", s)
	}
	return v, nil
}

// ParseRate reads a rate (400/s, 30/m) in requests per second, at most 1e7.
func ParseRate(s string) (float64, error) {
	if strings.HasSuffix(s, "%") {
		return 0, fmt.Errorf("%q: a rate as a share of a cell's own ceiling is refused: the cells would do different work", s)
	}
	text, per, ok := strings.Cut(s, "/")
	v, err := parseFloat(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%q is no rate (as in 400/s)", s)
	}
	switch {
	case !ok:
		return 0, fmt.Errorf("%q %w (as in %s/s)", s, errNoUnit, s)
	case per == "m":
		v /= 60
	case per != "s":
		return 0, fmt.Errorf("%q: unknown unit %q (1/s or 1/m)", s, per)
	}
	switch {
	case v <= 0:
		return 0, fmt.Errorf("%q must be above 0", s)
	case v > 1e7:
		return 0, fmt.Errorf("%q is above 10,000,000/s", s)
	}
	return v, nil
}

// ParseCount reads a whole number from lo to hi.
func ParseCount(s string, lo, hi int64) (int64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	tooLarge := errors.Is(err, strconv.ErrRange)
	if err != nil && !tooLarge {
		return 0, fmt.Errorf("%q is no whole number", s)
	}
	if tooLarge || v < lo || v > hi {
		return 0, fmt.Errorf("%q lies outside %d to %d", s, lo, hi)
	}
	return v, nil
}

// ParseCPUs reads a number of processors, above 0 and at most 1024.
func ParseCPUs(s string) (float64, error) {
	v, err := parseFloat(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of processors (as in 1 or 0.5)", s)
	}
	if v < 0.01 || v > 1024 {
		return 0, fmt.Errorf("%q lies outside 0.01 to 1024 processors", s)
	}
	return v, nil
}
