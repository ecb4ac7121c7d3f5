package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// rateMissed compares what an open load sent with what it had to send: the
// declared rate without what the in-flight limit dropped, which has a guard of
// its own. What is missing is what was not sent yet when the window ended.
func rateMissed() Guard {
	return Guard{
		Code:      "rate-missed",
		Severity:  experiment.SeverityInvalid,
		Threshold: 0.03,
		Unit:      experiment.UnitRatio,
		Help: "An open load sent fewer requests than the matrix asks for, beyond this share and not counting dropped ones. The generator " +
			"did not keep its schedule, so the load was another than the declared one and the run is excluded. Give the generator more " +
			"cores, or lower the rate. It is a warning where load.connections allows fewer connections than requests in flight and requests " +
			"had to wait for one: then the subject did not keep up, and its latencies hold the wait.",
		run: judgeRateMissed,
	}
}

// edgeRequests are the requests that may be missing because an arrival fell on an
// edge of the window.
const edgeRequests = 1

func judgeRateMissed(o experiment.Outcome, limit float64) []experiment.Finding {
	sent, ok := observed(o, "sent")
	if o.Plan.Load.Open == nil || !ok {
		return nil
	}
	dropped, _ := observed(o, "dropped")
	intended := o.Plan.Load.Open.Rate * (1 - dropped)
	window := o.Result.Window
	if window <= 0 {
		window = o.Plan.Load.Measure
	}
	if intended <= 0 || (intended-sent)*window.Seconds() <= edgeRequests {
		return nil
	}
	missed := 1 - sent/intended
	if missed <= limit {
		return nil
	}
	if waitedForConnection(o, window) {
		return []experiment.Finding{measured(experiment.SeverityWarn, "sent", missed,
			"%s of %s requests/s were sent over %s, %s too few (limit %s): others waited for a connection (load.connections is %d)",
			number(sent), number(intended), window.Round(time.Millisecond), share(missed), share(limit), o.Plan.Load.Connections)}
	}
	f := measured(experiment.SeverityInvalid, "sent", missed, "generator sent %s of %s requests/s over %s, %s too few (limit %s)",
		number(sent), number(intended), window.Round(time.Millisecond), share(missed), share(limit))
	f.Service = experiment.GeneratorName
	return []experiment.Finding{f}
}

// waitedForConnection reports whether requests that were due found no connection
// when the window ended: there are fewer connections than requests may be in
// flight, and more were in flight than there are.
func waitedForConnection(o experiment.Outcome, window time.Duration) bool {
	connections := o.Plan.Load.Connections
	if connections <= 0 || connections >= o.Plan.Load.Open.InFlight {
		return false
	}
	if o.Result.Total.Waiting > 0 { // until the end of drain, even
		return true
	}
	inFlight, _ := observed(o, "in_flight") // the mean, if nothing closer is known
	last := int64(-1)
	for _, p := range o.Series {
		if p.Service == "" && p.Metric == "in_flight" && p.AtMS > last && p.AtMS < window.Milliseconds() {
			inFlight, last = p.Value, p.AtMS
		}
	}
	return inFlight > float64(connections)
}
