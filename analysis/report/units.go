package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// missing stands for what is not known.
const missing = "-"

// unitScale is a multiple of a base unit.
type unitScale struct {
	factor float64 // of the base unit
	unit   string  // as printed: ms, k/s, MiB; empty for a plain number
}

// scalesOf gives the multiples of a unit, largest first.
func scalesOf(u experiment.Unit) []unitScale {
	switch u {
	case experiment.UnitSeconds:
		return []unitScale{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}
	case experiment.UnitPerSecond:
		return []unitScale{{1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}}
	case experiment.UnitBytes:
		return []unitScale{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
	case experiment.UnitBytesRate:
		return []unitScale{{1 << 40, "TiB/s"}, {1 << 30, "GiB/s"}, {1 << 20, "MiB/s"}, {1 << 10, "KiB/s"}, {1, "B/s"}}
	case experiment.UnitRatio:
		return []unitScale{{1e-2, "%"}}
	case experiment.UnitCores:
		return []unitScale{{1, "cores"}}
	case experiment.UnitCount:
		return []unitScale{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
	default:
		return []unitScale{{1, string(u)}}
	}
}

// commonScale gives the scale that suits the middle one of the values, so that a
// column has one unit.
func commonScale(values []float64, u experiment.Unit) unitScale {
	var sizes []float64
	for _, v := range values {
		if finite(v) && v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	scales := scalesOf(u)
	if len(sizes) == 0 {
		i := max(slices.IndexFunc(scales, func(s unitScale) bool { return s.factor == 1 }), 0)
		return scales[i]
	}
	slices.Sort(sizes)
	middle := sizes[len(sizes)/2]
	for _, s := range scales {
		if middle >= s.factor*0.9995 { // what rounds to 1.00 of the larger unit
			return s
		}
	}
	return scales[len(scales)-1]
}

// Quantity prints a value of a base unit with 3 significant digits and the
// prefix that suits it: 1.23 k/s, 4.5 ms, 256 MiB, 2.5%. It is never scientific;
// what is no finite number is "-".
func Quantity(v float64, u experiment.Unit) string {
	if !finite(v) {
		return missing
	}
	s := commonScale([]float64{v}, u)
	text := trimZeros(fixed(v/s.factor, decimals(v/s.factor)))
	switch s.unit {
	case "":
		return text
	case "%":
		return text + "%"
	default:
		return text + " " + s.unit
	}
}

const maxDecimals = 6

// decimals gives the number of decimals that show 3 significant digits, at most
// maxDecimals. Digits before the point are never cut.
func decimals(v float64) int {
	if v == 0 || !finite(v) {
		return 0
	}
	mantissa := strconv.FormatFloat(math.Abs(v), 'e', 2, 64) // rounds first: 9.996 has 2 digits before the point
	_, exponent, _ := strings.Cut(mantissa, "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return 0
	}
	return min(max(2-e, 0), maxDecimals)
}

// fixed prints with the given number of decimals; never "-0".
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// share prints a fraction in percent.
func share(v float64) string { return Quantity(v, experiment.UnitRatio) }

// withInterval prints "1.23 [1.20, 1.26]" in the given scale.
func withInterval(v, low, high *float64, s unitScale) string {
	if !known(v) {
		return missing
	}
	d := decimals(*v / s.factor)
	out := fixed(*v/s.factor, d)
	if known(low) && known(high) {
		out += " [" + fixed(*low/s.factor, d) + ", " + fixed(*high/s.factor, d) + "]"
	}
	return out
}

// alone prints a value without its interval. Shares have no trailing zeros.
func alone(v *float64, s unitScale) string {
	text := withInterval(v, nil, nil, s)
	if s.unit == "%" && known(v) {
		return trimZeros(text)
	}
	return text
}

// ratio prints "0.41x [0.39, 0.43]". There are as many decimals as the interval
// is wide, and enough to see on which side of 1 its ends lie.
func ratio(v, low, high *float64) string {
	if !known(v) {
		return missing
	}
	if !known(low) || !known(high) {
		return fixed(*v, max(min(decimals(*v), 2), leadingZeros(*v))) + "x"
	}
	d := min(decimals(*v), 2)
	if width := *high - *low; width > 0 {
		d = max(d, leadingZeros(width))
	}
	for d < 4 && (hidesOne(*low, d) || hidesOne(*high, d)) {
		d++
	}
	return fixed(*v, d) + "x [" + fixed(*low, d) + ", " + fixed(*high, d) + "]"
}

// leadingZeros gives the decimals up to the first digit that is not zero, at
// most maxDecimals.
func leadingZeros(v float64) int {
	if v == 0 {
		return 0
	}
	return min(max(-int(math.Floor(math.Log10(math.Abs(v)))), 0), maxDecimals)
}

func hidesOne(v float64, decimals int) bool {
	return v != 1 && trimZeros(fixed(v, decimals)) == "1"
}

// difference prints "+1.2 pp [+0.8, +1.6]", or in the metric's unit.
func difference(v, low, high *float64, u experiment.Unit) string {
	if !known(v) {
		return missing
	}
	sizes := []float64{*v}
	if known(low) && known(high) {
		sizes = append(sizes, *low, *high)
	}
	s := commonScale(sizes, u)
	largest := 0.0
	for _, x := range sizes {
		largest = max(largest, math.Abs(x/s.factor))
	}
	d := decimals(largest)
	unit := s.unit
	if unit == "%" {
		unit = "pp"
	}
	out := strings.TrimRight(signed(*v/s.factor, d)+" "+unit, " ")
	if len(sizes) > 1 {
		out += " [" + signed(*low/s.factor, d) + ", " + signed(*high/s.factor, d) + "]"
	}
	return out
}

func signed(v float64, decimals int) string {
	s := fixed(v, decimals)
	if strings.HasPrefix(s, "-") || strings.Trim(s, "0.") == "" {
		return s
	}
	return "+" + s
}

// Duration prints a time span for people: 1.5 ms, 45 s, 4m 30s, 2h 05m, 3d 04h.
func Duration(d time.Duration) string {
	if d < 0 {
		return missing
	}
	two := func(n time.Duration) string {
		if n < 10 {
			return "0" + strconv.Itoa(int(n))
		}
		return strconv.Itoa(int(n))
	}
	switch s, m := d.Round(time.Second), d.Round(time.Minute); {
	case s < time.Minute:
		return Quantity(d.Seconds(), experiment.UnitSeconds)
	case s < time.Hour:
		return strconv.Itoa(int(s/time.Minute)) + "m " + two(s%time.Minute/time.Second) + "s"
	case m < 24*time.Hour:
		return strconv.Itoa(int(m/time.Hour)) + "h " + two(m%time.Hour/time.Minute) + "m"
	default:
		h := d.Round(time.Hour)
		return strconv.Itoa(int(h/(24*time.Hour))) + "d " + two(h%(24*time.Hour)/time.Hour) + "h"
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func known(v *float64) bool { return v != nil && finite(*v) }
