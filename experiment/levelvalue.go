package experiment

import (
	"regexp"
	"strconv"
	"strings"
)

var numberPattern = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// LevelValue reads the text of a level that is a number: plain (8, 0.5, 1e6), a duration in
// s (200ms), a size in B (64KiB), a share (3%) or a rate in 1/s (400/s). The unit of a plain
// number is empty. A unit that the matrix language does not know (64k) makes no number, and
// neither do words such as null, off or inf.
func LevelValue(text string) (v float64, unit Unit, ok bool) {
	if numberPattern.MatchString(text) {
		v, err := strconv.ParseFloat(text, 64)
		return v, "", err == nil
	}
	if number, is := strings.CutSuffix(text, "%"); is && numberPattern.MatchString(number) {
		v, err := strconv.ParseFloat(number, 64)
		return v / 100, UnitRatio, err == nil
	}
	if d, err := ParseDuration(text); err == nil {
		return d.Seconds(), UnitSeconds, true
	}
	if b, err := ParseSize(text); err == nil {
		return float64(b), UnitBytes, true
	}
	if r, err := ParseRate(text); err == nil {
		return r, UnitPerSecond, true
	}
	return 0, "", false
}
