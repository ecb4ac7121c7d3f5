package main

import (
	"testing"
	"time"
)

func TestBound(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		t.Helper()
		out, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const evening = "2026-03-10T22:30:00+01:00"
	for _, c := range []struct {
		name, now, until, period string
		want                     string // the time, or an error
	}{
		{"no bound", evening, "", "", ""},
		{"the next morning", evening, "07:00", "", "2026-03-11T07:00:00+01:00"},
		{"later today", evening, "23:15", "", "2026-03-10T23:15:00+01:00"},
		{"now is over", evening, "22:30", "", "2026-03-11T22:30:00+01:00"},
		{"one digit of the hour", evening, "7:00", "", "2026-03-11T07:00:00+01:00"},
		{"midnight", evening, "00:00", "", "2026-03-11T00:00:00+01:00"},
		{"the month ends", "2026-04-30T22:00:00+02:00", "07:00", "", "2026-05-01T07:00:00+02:00"},
		{"the clocks go forward at night", "2026-03-28T22:00:00+01:00", "07:00", "", "2026-03-29T07:00:00+02:00"},
		{"the clocks go back at night", "2026-10-24T22:00:00+02:00", "07:00", "", "2026-10-25T07:00:00+01:00"},
		{"a whole time", evening, "2026-03-12T06:00:00Z", "", "2026-03-12T07:00:00+01:00"},
		{"a whole time that is over", evening, "2026-03-10T06:00:00Z", "", "--until: 2026-03-10T06:00:00Z is over"},
		{"no time", evening, "noon", "", `--until: "noon" is no time (as in 07:00 or 2026-03-01T07:00:00+01:00)`},
		{"no such hour", evening, "24:00", "", `--until: "24:00" is no time (as in 07:00 or 2026-03-01T07:00:00+01:00)`},
		{"for a while", evening, "", "8h", "2026-03-11T06:30:00+01:00"},
		{"for no time", evening, "", "0s", `--for: "0s" leaves no time`},
		{"for what has no unit", evening, "", "8", `--for: "8" has no unit (as in 8s or 8ms)`},
		{"for more than a week", evening, "", "200h", `--for: "200h" is longer than 7 days`},
		{"both", evening, "07:00", "8h", "--until and --for: want one of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := bound(c.until, c.period, at(c.now).In(berlin))
			if err != nil {
				if err.Error() != c.want || exitCode(t.Context(), err) != exitUsage {
					t.Errorf("got %q with exit code %d, want %q with %d", err, exitCode(t.Context(), err), c.want, exitUsage)
				}
				return
			}
			if c.want == "" && !got.IsZero() || c.want != "" && !got.Equal(at(c.want)) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}
