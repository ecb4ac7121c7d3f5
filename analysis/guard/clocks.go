package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Limits of what the conductor's clocks may show.
const (
	clocksApart  = time.Second
	tickTooLate  = time.Second
	codeSuspend  = "host-suspended"
	codePaused   = "conductor-paused"
	clockedValue = time.Millisecond // to which durations are told
)

func hostSuspended() Guard {
	return Guard{
		Code:     codeSuspend,
		Severity: experiment.SeverityInvalid,
		Help: "The wall clock and the monotonic clock of this host moved apart by more than 1 s during the run: the host slept, was " +
			"migrated or restored, or its clock was set. Nobody knows what the services did meanwhile, so the run is excluded; it is tried once " +
			"more. Keep the host awake (systemd-inhibit), and let its clock be slewed, not stepped.",
		run: func(o experiment.Outcome, _ float64) []experiment.Finding {
			return clocked(o.Clocks.Apart, clocksApart, experiment.HostName, "the wall clock moved by %v against the monotonic clock (limit %v)")
		},
	}
}

func conductorPaused() Guard {
	return Guard{
		Code:     codePaused,
		Severity: experiment.SeverityInvalid,
		Help: "The conductor looks at its clock ten times a second, and in the measured window one look came more than 1 s late: ceteris was " +
			"stopped, or found no processor. Its counters are then not those of the window, and whatever held it back may have held the load " +
			"too, so the run is excluded; it is tried once more. Do not stop ceteris, and leave its core (place.conductor) some room.",
		run: func(o experiment.Outcome, _ float64) []experiment.Finding {
			return clocked(o.Clocks.Late, tickTooLate, experiment.ConductorName, "a tick of the conductor came %v late in the measured window (limit %v)")
		},
	}
}

// clocked finds fault with a duration beyond its limit, in either direction.
func clocked(d, limit time.Duration, service, format string) []experiment.Finding {
	if d.Abs() <= limit {
		return nil
	}
	f := finding(experiment.SeverityInvalid, format, d.Round(clockedValue), limit)
	value, threshold := d.Seconds(), limit.Seconds()
	f.Service, f.Value, f.Threshold = service, &value, &threshold
	return []experiment.Finding{f}
}
