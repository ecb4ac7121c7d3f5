package guard

import (
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// rateMissed compares what an open load sent with what it had to send: the
// declared rate without what the in-flight limit dropped, which has a guard of
// its own. What is missing is what was not sent yet when the window ended. Where the
// rate is no constant (Poisson arrivals, streams, phases), the arrivals that the
// generator drew stand for it.
func rateMissed() Guard {
	return Guard{
		Code:      "rate-missed",
		Severity:  experiment.SeverityInvalid,
		Threshold: 0.03,
		Unit:      experiment.UnitRatio,
		Help: "An open load sent fewer requests than the matrix asks for, beyond this share and not counting dropped ones. The generator " +
			"did not keep its schedule, so the load was another than the declared one and the run is excluded. Give the generator more " +
			"cores, or lower the rate. It is a warning where requests had to wait: for one of fewer connections (load.connections) than may be in " +
			"flight, or for a place in flight (when_full: queue). Then the subject did not keep up, and its latencies hold the wait.",
		run: judgeRateMissed,
	}
}

// edgeRequests are the requests that may be missing because an arrival fell on an
// edge of the window.
const edgeRequests = 1

func judgeRateMissed(o experiment.Outcome, limit float64) []experiment.Finding {
	sent, ok := observed(o, "sent")
	rate, known := intendedRate(o)
	if !ok || !known {
		return nil
	}
	dropped, _ := observed(o, "dropped")
	intended := rate * (1 - dropped)
	window := o.Result.Window
	if window <= 0 {
		window = o.Plan.Load.Window()
	}
	if intended <= 0 || (intended-sent)*window.Seconds() <= edgeRequests {
		return nil
	}
	missed := 1 - sent/intended
	if missed <= limit {
		return nil
	}
	if why := waited(o, window); why != "" {
		return []experiment.Finding{measured(experiment.SeverityWarn, "sent", missed,
			"%s of %s requests/s were sent over %s, %s too few (limit %s): others waited for %s",
			number(sent), number(intended), window.Round(time.Millisecond), share(missed), share(limit), why)}
	}
	f := measured(experiment.SeverityInvalid, "sent", missed, "generator sent %s of %s requests/s over %s, %s too few (limit %s)",
		number(sent), number(intended), window.Round(time.Millisecond), share(missed), share(limit))
	f.Service = experiment.GeneratorName
	return []experiment.Finding{f}
}

// intendedRate is the rate of arrivals that an open load had to keep in the window.
func intendedRate(o experiment.Outcome) (rate float64, known bool) {
	l := o.Plan.Load
	switch {
	case l.Open != nil && !l.Open.Poisson && len(l.Streams) == 0:
		return l.Open.Rate, true
	case len(openLanes(l)) > 0:
		return observed(o, "offered")
	default:
		return 0, false
	}
}

// openLanes lists the arrival processes of a load.
func openLanes(l experiment.Load) []experiment.OpenLoad {
	var all []experiment.OpenLoad
	if l.Open != nil {
		all = append(all, *l.Open)
	}
	for _, s := range l.Streams {
		all = append(all, s.Open)
	}
	for _, p := range l.Phases {
		if p.Open != nil {
			all = append(all, *p.Open)
		}
	}
	return all
}

// waited says for what requests that were due had to wait, if for anything: for a
// connection, where there are fewer than requests may be in flight, or for a place in
// flight.
func waited(o experiment.Outcome, window time.Duration) string {
	limit, what := declaredWait(o.Plan.Load)
	if what == "" {
		return ""
	}
	if o.Result.Total.Waiting > 0 || inFlightAtEnd(o, window) > float64(limit) { // waiting until the end of drain, even
		return what
	}
	return ""
}

// declaredWait says for what requests of a load may have to wait, and with how many in
// flight none has to: for a connection, or for a place in flight. Empty: for nothing.
func declaredWait(l experiment.Load) (limit int, what string) {
	places, queues := 0, false
	for _, lane := range openLanes(l) {
		places = max(places, lane.InFlight)
		queues = queues || lane.Queue
	}
	switch {
	case l.Connections > 0 && l.Connections < l.Concurrency():
		return l.Connections, fmt.Sprintf("a connection (load.connections is %d)", l.Connections)
	case queues:
		return places - 1, fmt.Sprintf("a place (in_flight is %d)", places)
	default:
		return 0, ""
	}
}

// inFlightAtEnd is how many requests were in flight when the window ended; the mean, if
// nothing closer is known.
func inFlightAtEnd(o experiment.Outcome, window time.Duration) float64 {
	inFlight, _ := observed(o, "in_flight")
	last := int64(-1)
	for _, p := range o.Series {
		if p.Service == "" && p.Metric == "in_flight" && p.AtMS > last && p.AtMS < window.Milliseconds() {
			inFlight, last = p.Value, p.AtMS
		}
	}
	return inFlight
}
