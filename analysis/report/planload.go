package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// load says in a line what is sent and how; nothing without a load.
func (v PlanView) load() []string {
	l := v.Matrix.Load
	switch {
	case l.None:
		return []string{"none: starts and jobs are observed"}
	case l.External != nil:
		return []string{external(l)}
	case l.Service == "":
		return nil
	}
	parts := []string{fmt.Sprintf("%s to %s:%d", requests(l.Requests), l.Service, l.Port)}
	if l.Phases != nil {
		var phases []string
		for _, p := range l.Phases {
			s := p.Name + " (" + shape(p.Closed, p.Open) + ", " + p.For.String()
			if p.Measure {
				s += ", measured"
			}
			phases = append(phases, s+")")
		}
		return []string{parts[0] + ", phases " + strings.Join(phases, ", ")}
	}
	parts = append(parts, shape(l.Closed, l.Open))
	for _, s := range l.Streams {
		parts = append(parts, "from "+s.After.String()+" also "+shape(nil, &s.Open))
	}
	warmup := l.Warmup.For.String()
	if l.Warmup.Until != "" {
		warmup = "until " + l.Warmup.Until + ", " + l.Warmup.AtLeast.String() + " to " + l.Warmup.AtMost.String()
	}
	window := l.Measure.For.String()
	if !l.Measure.Requests.IsZero() {
		window = l.Measure.Requests.String() + " requests, at most " + l.Measure.AtMost.String()
	}
	parts = append(parts, "ramp "+l.Ramp.String(), "warm-up "+warmup, "window "+window)
	return []string{strings.Join(parts, ", ")}
}

// external says in a sentence which other generator drives the load, how its result is
// read, and which part of its run is the window.
func external(l experiment.LoadSpec) string {
	x := l.External
	read := "its output by the reader of " + x.Reader
	if x.Reader == "" {
		read = "values taken out of its output"
	}
	if x.Service.Output != "" {
		read += " from " + x.Service.Output
	}
	window := "the window is all of its run"
	switch warmup := l.Warmup.For.String(); {
	case !l.Measure.For.IsZero():
		window = "warm-up " + warmup + ", window " + l.Measure.For.String()
	case warmup != "" && warmup != experiment.DefaultRamp:
		window = "warm-up " + warmup + ", then the window to its end"
	}
	if within := x.Within.String(); within != "" {
		window += ", " + within + " at most in all"
	}
	return strings.Join([]string{"driven by " + program(x.Service), read, window}, ", ")
}

// maxProgram bounds what is shown of a command, in characters.
const maxProgram = 120

// program names what a service runs.
func program(s experiment.ServiceSpec) string {
	var words []string
	switch {
	case !s.Image.IsZero():
		words = append(words, s.Image.String())
	case s.Build != nil:
		words = append(words, cmp.Or(s.Build.Go, s.Build.Context))
	}
	for _, c := range s.Command {
		words = append(words, c.String())
	}
	text := []rune(Plain(strings.Join(words, " ")))
	if len(text) > maxProgram {
		text = append(text[:maxProgram-1], '…')
	}
	return string(text)
}

func shape(closed *experiment.ClosedSpec, open *experiment.OpenSpec) string {
	switch {
	case closed != nil:
		return closed.Users.String() + " users"
	case open != nil:
		s := open.Rate.String() + " with at most " + open.InFlight.String() + " in flight"
		if open.Arrivals == experiment.ArrivalsPoisson {
			s = "Poisson arrivals of " + s
		}
		return s
	default:
		return "idle"
	}
}

func requests(all []experiment.RequestSpec) string {
	parts := make([]string, len(all))
	for i, q := range all {
		parts[i] = q.Method + " " + q.Path.String()
		if q.Name != "" {
			parts[i] = q.Name + " (" + parts[i] + ")"
		}
	}
	return strings.Join(parts, ", ")
}
