package report

import (
	"math"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func TestQuantity(t *testing.T) {
	const (
		s     = experiment.UnitSeconds
		rate  = experiment.UnitPerSecond
		bytes = experiment.UnitBytes
	)
	tests := map[string]struct {
		value float64
		unit  experiment.Unit
		want  string
	}{
		"rate":                     {1234.5, rate, "1.23 k/s"},
		"rate below a thousand":    {999.4, rate, "999 /s"},
		"rate that rounds up":      {999.6, rate, "1 k/s"},
		"rate of many":             {12_345_678, rate, "12.3 M/s"},
		"zero":                     {0, rate, "0 /s"},
		"negative":                 {-1500, rate, "-1.5 k/s"},
		"milliseconds":             {0.0045, s, "4.5 ms"},
		"microseconds":             {0.0000123, s, "12.3 µs"},
		"seconds":                  {61.27, s, "61.3 s"},
		"digits before the point":  {123456, s, "123456 s"},
		"below the smallest scale": {1e-12, s, "0.001 ns"},
		"size":                     {256 << 20, bytes, "256 MiB"},
		"size below":               {1023, bytes, "1023 B"},
		"size of a rate":           {1536, experiment.UnitBytesRate, "1.5 KiB/s"},
		"share":                    {0.0123, experiment.UnitRatio, "1.23%"},
		"share of nothing":         {0, experiment.UnitRatio, "0%"},
		"cores":                    {0.931, experiment.UnitCores, "0.931 cores"},
		"count":                    {12, experiment.UnitCount, "12"},
		"count of many":            {12_340, experiment.UnitCount, "12.3 k"},
		"unknown unit":             {2, "widgets", "2 widgets"},
		"no unit":                  {2.5, "", "2.5"},
		"not a number":             {math.NaN(), s, "-"},
		"infinite":                 {math.Inf(-1), s, "-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Quantity(tt.value, tt.unit); got != tt.want {
				t.Errorf("Quantity(%v, %s) = %q, want %q", tt.value, tt.unit, got, tt.want)
			}
		})
	}
}

func TestRatio(t *testing.T) {
	tests := map[string]struct {
		v, low, high *float64
		want         string
	}{
		"plain":                        {new(0.412), new(0.393), new(0.432), "0.41x [0.39, 0.43]"},
		"small":                        {new(0.0123), new(0.0113), new(0.0134), "0.012x [0.011, 0.013]"},
		"narrow":                       {new(1.0012), new(0.9995), new(1.0029), "1.0012x [0.9995, 1.0029]"},
		"an end that would round to 1": {new(1.05), new(1.002), new(1.10), "1.050x [1.002, 1.100]"},
		"an end that is 1":             {new(1.05), new(1.0), new(1.10), "1.05x [1.00, 1.10]"},
		"large":                        {new(123.4), new(101.2), new(150.0), "123x [101, 150]"},
		"without an interval":          {new(0.567), nil, nil, "0.57x"},
		"small without an interval":    {new(0.00567), nil, nil, "0.006x"},
		"unknown":                      {nil, new(1.0), new(2.0), "-"},
		"not finite":                   {new(math.NaN()), nil, nil, "-"},
		"an end that is not finite":    {new(2.0), new(1.5), new(math.Inf(1)), "2.00x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ratio(tt.v, tt.low, tt.high); got != tt.want {
				t.Errorf("ratio = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDifference(t *testing.T) {
	tests := map[string]struct {
		v, low, high *float64
		unit         experiment.Unit
		want         string
	}{
		"share":               {new(0.012), new(-0.004), new(0.028), experiment.UnitRatio, "+1.20 pp [-0.40, +2.80]"},
		"none":                {new(0.0), nil, nil, experiment.UnitRatio, "0 pp"},
		"seconds":             {new(-0.0015), new(-0.002), new(-0.001), experiment.UnitSeconds, "-1.50 ms [-2.00, -1.00]"},
		"unknown":             {nil, nil, nil, experiment.UnitRatio, "-"},
		"without an interval": {new(3.0), nil, new(4.0), experiment.UnitCount, "+3.00"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := difference(tt.v, tt.low, tt.high, tt.unit); got != tt.want {
				t.Errorf("difference = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCommonScaleSuitsTheMiddle(t *testing.T) {
	tests := map[string]struct {
		values []float64
		unit   experiment.Unit
		want   string
	}{
		"most in milliseconds": {[]float64{0.004, 0.005, 2.5}, experiment.UnitSeconds, "ms"},
		"zeros do not count":   {[]float64{0, 0, 12_000}, experiment.UnitPerSecond, "k/s"},
		"nothing":              {nil, experiment.UnitSeconds, "s"},
		"nothing, in bytes":    {[]float64{0, math.NaN()}, experiment.UnitBytes, "B"},
		"shares":               {nil, experiment.UnitRatio, "%"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := commonScale(tt.values, tt.unit).unit; got != tt.want {
				t.Errorf("unit = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                "0 s",
		1500 * time.Microsecond:          "1.5 ms",
		45 * time.Second:                 "45 s",
		59*time.Second + 600e6:           "1m 00s",
		4*time.Minute + 30*time.Second:   "4m 30s",
		2*time.Hour + 5*time.Minute:      "2h 05m",
		59*time.Minute + 59500e6:         "1h 00m",
		23*time.Hour + 59*time.Minute:    "23h 59m",
		24*time.Hour - 10*time.Second:    "1d 00h",
		76*time.Hour + 10*time.Minute:    "3d 04h",
		-time.Second:                     "-",
		100*time.Hour + 59*time.Second:   "4d 04h",
		3*time.Minute + 5*time.Second:    "3m 05s",
		10*time.Minute + 400*time.Second: "16m 40s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"as it is: é 漢 |<>":        "as it is: é 漢 |<>",
		"a\nb\tc":                  "a b c",
		"a\r\x00\x7f\u009bb":       "ab",
		"\x1b[1;31mred\x1b[0m":     "red",
		"\x1b]0;title\x07x":        "x",
		"\x1b]8;;u\x1b\\link":      "link",
		"\x1bPq unfinished":        "",
		"\x1b":                     "",
		"bad \xff byte":            "bad \uFFFD byte",
		"\u202eturned\u2066 round": "turned round",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"log_level=info":       "log_level=info",
		"__init__ _x_":         `\_\_init\_\_ \_x\_`,
		"<b> & `c` *d* ~e~":    "&lt;b&gt; &amp; \\`c\\` \\*d\\* \\~e\\~",
		`[t](http://x) \`:      `[t]\(http://x) \\`,
		" 0.41x [0.39, 0.43] ": "0.41x [0.39, 0.43]",
	} {
		if got := markdown(in); got != want {
			t.Errorf("markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three four averyveryverylongword five", 12, "  ")
	want := "one two\n  three four\n  averyveryverylongword\n  five"
	if got != want {
		t.Errorf("wrap = %q, want %q", got, want)
	}
}
