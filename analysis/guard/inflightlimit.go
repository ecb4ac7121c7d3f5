package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// inFlightLimit holds against the limits that are declared how many requests are under
// way, which by Little's law is how many are done in a second times how long each takes.
// Limits of the load are looked at in each run; what the subject can serve at once is
// known only where a factor says so.
func inFlightLimit() Guard {
	return Guard{
		Code:      "in-flight-limit",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.95,
		Unit:      experiment.UnitRatio,
		Help: "As many requests were under way, on average, as a limit allows. An open load above this share of its in_flight has a limit of the " +
			"generator's for a result: latency is then in_flight by throughput, whatever the setting. More requests under way than connections " +
			"(load.connections), or than the threads, workers or places in a pool that a factor gives the subject, are a note: at least the rest of them wait, and latency " +
			"is mostly that wait. Lower the load, or raise the limit.",
		run:   judgeInFlight,
		sweep: judgeCapacity,
	}
}

func judgeInFlight(o experiment.Outcome, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, x := range o.Observations {
		n := experiment.SplitMetricName(x.Metric)
		if n.Base != "in_flight" || n.Request != "" || x.Phase != experiment.PhaseMeasure {
			continue
		}
		mean, ok := observed(o, x.Metric)
		if !ok {
			continue
		}
		l := o.Plan.Load
		if places := float64(placesIn(l, n.Phase)); places > 0 && mean > limit*places {
			all = append(all, measured(experiment.SeverityWarn, x.Metric, mean/places,
				"%s requests were under way%s, and the load allows %s (in_flight): that decides how long they take", number(mean), little(o, n, mean), number(places)))
		}
		if c := float64(l.Connections); c > 0 && l.Connections < l.Concurrency() && mean > c {
			f := finding(experiment.SeverityNote, "%s requests were under way%s over %s: %s of them waited for one", number(mean), little(o, n, mean), plural(l.Connections, "connection"), number(mean-c))
			f.Metric = x.Metric
			all = append(all, f)
		}
	}
	return all
}

// placesIn is how many requests an open load allows under way in a phase, or in all of
// it where it declares none; 0 if there is no such limit.
func placesIn(l experiment.Load, phase string) int {
	if phase == "" && l.Open != nil {
		return l.Concurrency()
	}
	for _, p := range l.Phases {
		if p.Name == phase && p.Open != nil {
			return p.Open.InFlight
		}
	}
	return 0
}

// little says what the number in flight is made of: a rate, and a time by Little's law.
func little(o experiment.Outcome, n experiment.MetricName, inFlight float64) string {
	done, ok := observed(o, n.Of("requests_done"))
	seconds := windowOf(o, n.Phase).Seconds()
	if !ok || done <= 0 || seconds <= 0 {
		return " on average"
	}
	rate := done / seconds
	return fmt.Sprintf(" on average (%s/s of %s each)", number(rate), duration(inFlight/rate))
}

// judgeCapacity looks at the factors whose level is how many requests the subject
// serves at once.
func judgeCapacity(s experiment.Sweep, _ experiment.Results, _ float64) []experiment.Finding {
	var all []experiment.Finding
	for _, c := range s.Cells {
		mean, ok := meanOf(s, c.Key, "in_flight")
		if !ok || c.Role == experiment.RoleControl {
			continue
		}
		smallest, factor := 0, ""
		for _, set := range c.Settings {
			n, err := strconv.Atoi(set.Level)
			if err == nil && n > 0 && experiment.NamesCapacity(set.Factor) && (factor == "" || n < smallest) {
				smallest, factor = n, set.Factor
			}
		}
		if capacity := float64(smallest); factor != "" && mean > capacity {
			f := finding(experiment.SeverityNote, "%s requests were under way on average with %s=%d: at least %s of them waited", number(mean), factor, smallest, number(mean-capacity))
			f.Cell, f.Metric = c.Key, "in_flight"
			all = append(all, f)
		}
	}
	return all
}

// meanOf is the mean of a metric over the counting runs of a cell that have it.
func meanOf(s experiment.Sweep, cell experiment.CellKey, metric string) (float64, bool) {
	values := valuesOf(s, cell, metric)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(cmp.Or(len(values), 1)), len(values) > 0
}

// valuesOf gives a metric of the counting runs of a cell that have it, sorted.
func valuesOf(s experiment.Sweep, cell experiment.CellKey, metric string) []float64 {
	var values []float64
	for _, r := range s.Runs {
		if r.Cell != cell || r.State != experiment.StateOK {
			continue
		}
		if v, ok := observed(experiment.Outcome{Observations: r.Observations}, metric); ok {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}
