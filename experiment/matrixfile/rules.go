package matrixfile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const bestOf = "the best of several runs is no sample, and has no honest interval"

func placeShape() shape {
	return shape{
		known: words("subject backing load conductor"),
		never: map[string]string{"governor": hostTuning, "turbo": hostTuning, "isolate": hostTuning},
	}
}

func (r *reader) placement(v *value) experiment.PlaceSpec {
	out := experiment.PlaceSpec{
		Subject: experiment.RunnerAuto, Backing: experiment.RunnerAuto,
		Load: experiment.RunnerAuto, Conductor: experiment.RunnerAuto,
	}
	if v == nil {
		return out
	}
	out.At = v.at
	o := r.object(v, placeShape())
	for name, set := range map[string]*string{
		"subject": &out.Subject, "backing": &out.Backing, "load": &out.Load, "conductor": &out.Conductor,
	} {
		*set = parsed(r, o[name], *set, func(s string) (string, error) {
			if s == experiment.RunnerAuto {
				return s, nil
			}
			_, err := experiment.ParseCoreSet(s)
			return s, err
		})
	}
	return out
}

func repeatShape() shape {
	return shape{
		known: words("rounds until within at_most seed"),
		never: map[string]string{"best_of": bestOf, "best-of": bestOf, "best": bestOf, "take": bestOf},
	}
}

func stopRules() []string {
	return []string{string(experiment.StopPrecise), string(experiment.StopDecided)}
}

// repeat reads a fixed number of rounds, or a rule by which they are enough.
func (r *reader) repeat(v *value) experiment.RepeatPlan {
	o := r.object(v, repeatShape())
	out := experiment.RepeatPlan{
		Rounds: r.count(o["rounds"], experiment.DefaultRounds, 1, experiment.MaxRounds),
		Seed:   uint64(r.count(o["seed"], experiment.DefaultSeed, 0, math.MaxInt64)),
	}
	if o["until"] == nil {
		for _, name := range words("within at_most") {
			if o[name] != nil {
				r.faultAt(o[name], "as in until: precise", "it belongs to a rule, and until names none")
			}
		}
		return out
	}
	out.Until = experiment.StopRule(r.oneOf(o["until"], "", stopRules(), nil))
	out.AtMost = r.count(o["at_most"], experiment.DefaultAtMost, experiment.FirstLook, experiment.MaxRounds)
	out.Rounds = out.AtMost
	if o["rounds"] != nil {
		r.faultAt(o["rounds"], "bound them by at_most instead", "until says when there are rounds enough")
	}
	if o["within"] == nil {
		return out
	}
	if out.Until == experiment.StopDecided {
		r.faultAt(o["within"], "leave it out, or say until: precise", "decided looks at verdicts, not at widths")
	}
	out.Within = parsed(r, o["within"], 0, func(s string) (float64, error) {
		v, err := experiment.ParseFraction(s)
		if err == nil && v == 0 {
			err = fmt.Errorf("%q is too narrow for any number of rounds", s)
		}
		return v, err
	})
	return out
}

func judgeShape() shape {
	return shape{
		known: words("metric minimum_effect confidence error_rate guards"),
		never: map[string]string{"best_of": bestOf, "best-of": bestOf, "best": bestOf},
	}
}

// judge reads the rule. Without a metric it is the throughput of the load, if there
// is one.
func (r *reader) judge(v *value, load experiment.LoadSpec) experiment.Settings {
	o := r.object(v, judgeShape())
	out := experiment.Settings{
		Metric:        mainMetric(load),
		MinimumEffect: parsed(r, o["minimum_effect"], experiment.DefaultMinimumEffect, experiment.ParseFraction),
		Confidence:    parsed(r, o["confidence"], experiment.DefaultConfidence, experiment.ParseFraction),
		ErrorRate:     parsed(r, o["error_rate"], experiment.DefaultErrorRate, experiment.ParseFraction),
	}
	if metric, ok := r.plain(o["metric"]); ok {
		out.Metric = metric
	}
	if o["guards"] == nil {
		return out
	}
	out.Guards = map[string]experiment.GuardSetting{}
	for _, f := range r.names(o["guards"], "as in {host-noise: off}") {
		out.Guards[f.name] = r.guard(f)
	}
	return out
}

func guardShape() shape { return shape{known: words("above")} }

// mainMetric is what is compared where the matrix names nothing: nothing without load,
// and where no throughput is taken from its result.
func mainMetric(l experiment.LoadSpec) string {
	if l.None {
		return ""
	}
	if l.External != nil && !l.External.Takes(experiment.DefaultMetric) {
		return ""
	}
	for _, p := range l.Phases {
		if p.Measure {
			return p.Name + ":" + experiment.DefaultMetric
		}
	}
	return experiment.DefaultMetric
}

func (r *reader) guard(f field) experiment.GuardSetting {
	known, later := slices.Sorted(maps.Keys(GuardCodes())), laterGuards()
	movable, built := GuardCodes()[f.name]
	switch {
	case built:
	case slices.Contains(later, f.name):
		r.fault(f.at, f.value.path, experiment.ErrNotYet, "")
		return experiment.GuardSetting{}
	default:
		hint := "known: " + strings.Join(known, ", ")
		if near := experiment.Suggest(f.name, slices.Concat(known, later)); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.fault(f.at, f.value.path, errors.New("no guard has this code"), hint)
		return experiment.GuardSetting{}
	}
	if f.value.kind != mapping {
		r.oneOf(f.value, "", []string{"off"}, nil)
		return experiment.GuardSetting{Off: true}
	}
	o := r.object(f.value, guardShape())
	r.require(f.value, o, "above")
	if !movable && o["above"] != nil {
		r.faultAt(o["above"], "it can be turned off", "guard %s has no threshold", f.name)
		return experiment.GuardSetting{}
	}
	above := parsed(r, o["above"], 0, experiment.ParseFraction)
	return experiment.GuardSetting{Above: &above}
}

// GuardCodes are the codes of all guards that a matrix may name under judge.guards,
// and whether they have a threshold, a share, that it may move.
func GuardCodes() map[string]bool {
	return map[string]bool{
		"generator-cpu": true, "shared-cores": false, "rate-missed": true, "dropped": true, "errors": true,
		"restarted": false, "oom": false, "setting-ineffective": false, "not-equal": false, "host-noise": true,
		"engine-busy": true, "engine-elsewhere": false, "result-incomplete": false, "limit-not-applied": false, "control-differs": false,
		"noisy-cell": false, "round-without-baseline": false, "host-suspended": false, "conductor-paused": false, "scrape-gap": false,
		"non-monotone": false, "client-limited": false, "not-warm": false, "work-missing": false, "external-tool": false,
		"generator-late": true, "window-short": true, "in-flight-limit": true, "cpu-cap": true, "emulated-image": false,
		"work-differs": true, "flat-load": true, "imported": false,
		"drift": true, "order-drift": false, "spread": false, "ceiling": true, "a-a-failed": false,
	}
}

// laterGuards are the codes of the language's guards that this version lacks: to
// turn one off or to move it would change nothing.
func laterGuards() []string {
	return words("pool-saturated level-out-of-reach")
}
