package experiment

import "testing"

func TestLevelValue(t *testing.T) {
	for _, tc := range []struct {
		text string
		v    float64
		unit Unit
		ok   bool
	}{
		{"8", 8, "", true},
		{"0", 0, "", true},
		{"-1", -1, "", true},
		{"0.5", 0.5, "", true},
		{"1.10", 1.1, "", true},
		{"1e6", 1e6, "", true},
		{"200ms", 0.2, UnitSeconds, true},
		{"1m30s", 90, UnitSeconds, true},
		{"0s", 0, UnitSeconds, true},
		{"64KiB", 65536, UnitBytes, true},
		{"1GB", 1e9, UnitBytes, true},
		{"3%", 0.03, UnitRatio, true},
		{"150%", 1.5, UnitRatio, true},
		{"400/s", 400, UnitPerSecond, true},
		{"30/m", 0.5, UnitPerSecond, true},
		{"", 0, "", false},
		{"null", 0, "", false},
		{"off", 0, "", false},
		{"inf", 0, "", false},
		{"NaN", 0, "", false},
		{"1e999", 0, "", false},
		{"0x10", 0, "", false},
		{"1_000", 0, "", false},
		{"64k", 0, "", false},
		{"v2", 0, "", false},
		{"1.2.3", 0, "", false},
		{"-5s", 0, "", false},
		{"%", 0, "", false},
	} {
		t.Run(tc.text, func(t *testing.T) {
			v, unit, ok := LevelValue(tc.text)
			if ok != tc.ok || ok && (v != tc.v || unit != tc.unit) {
				t.Errorf("%v %q %v, want %v %q %v", v, unit, ok, tc.v, tc.unit, tc.ok)
			}
		})
	}
}
