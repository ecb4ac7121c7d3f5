package matrixfile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const hostTuning = "ceteris leaves the host as it is, and reports what disturbs"

const bestOf = "the best of several runs is no sample, and has no honest interval"

func matrixShape() shape {
	return shape{
		known: words("name question runner subject factors sweep control load place repeat judge"),
		later: words("cells except interactions stages across requires on_finish prepare collect scrape metrics"),
		never: map[string]string{"host": hostTuning, "tune": hostTuning, "tuning": hostTuning, "sysctls": hostTuning},
	}
}

// matrix reads a whole matrix, as far as it can be read, and fills in defaults.
func (r *reader) matrix(v *value) *experiment.Matrix {
	o := r.object(v, matrixShape())
	r.require(v, o, "name", "subject", "load")
	m := &experiment.Matrix{}
	m.Name, _ = r.plain(o["name"])
	m.Question, _ = r.text(o["question"])
	m.Runner = r.oneOf(o["runner"], experiment.RunnerAuto,
		words("auto docker process"), words("swarm"))
	r.subject(o["subject"], m)
	m.Factors = r.factors(o["factors"])
	r.sweep(o["sweep"])
	m.Control = r.boolean(o["control"], true)
	m.Load = r.load(o["load"])
	m.Place = r.placement(o["place"])
	m.Repeat = r.repeat(o["repeat"])
	m.Judge = r.judge(o["judge"])
	for i, s := range m.Subject.Services {
		if s.Role == "" {
			m.Subject.Services[i].Role = experiment.RoleBacking
			if s.Name == m.Load.Service {
				m.Subject.Services[i].Role = experiment.RoleSubject
			}
		}
	}
	return m
}

func (r *reader) sweep(v *value) {
	if v != nil && (v.kind == mapping || v.kind == list) {
		r.faultAt(v, "", "a sweep of chosen cells is %w", experiment.ErrNotYet)
		return
	}
	r.oneOf(v, "", words("one-at-a-time"), words("grid cells stages"))
}

func factorShape() shape {
	return shape{known: words("baseline levels unit"), later: words("only")}
}

func (r *reader) factors(v *value) []experiment.Factor {
	var out []experiment.Factor
	for _, f := range r.names(v, "as in threads: [8, 32, 128]") {
		out = append(out, r.factor(f))
	}
	return out
}

func (r *reader) factor(f field) experiment.Factor {
	out := experiment.Factor{Name: f.name, At: f.at}
	if f.value.kind == list {
		for i, item := range f.value.items {
			item.path = fmt.Sprintf("%s.levels[%d]", f.value.path, i)
		}
		out.Levels = r.levels(f.value)
		return out
	}
	if f.value.kind != mapping {
		r.want(f.value, list, "as in "+f.name+": [8, 32]")
		return out
	}
	o := r.object(f.value, factorShape())
	r.require(f.value, o, "levels")
	out.Levels = r.levels(o["levels"])
	out.Unit, _ = r.plain(o["unit"])
	if o["baseline"] == nil {
		return out
	}
	text, ok := r.level(o["baseline"])
	if !ok {
		return out
	}
	if len(out.Levels) == 0 {
		return out
	}
	out.Baseline = slices.IndexFunc(out.Levels, func(l experiment.Level) bool { return l.Text == text })
	if out.Baseline < 0 {
		out.Baseline = 0
		var known []string
		for _, l := range out.Levels {
			known = append(known, strconv.Quote(l.Text))
		}
		r.faultAt(o["baseline"], "levels: "+strings.Join(known, ", "), "the baseline %q is no level", text)
	}
	return out
}

func (r *reader) levels(v *value) []experiment.Level {
	var out []experiment.Level
	for _, item := range r.items(v, "as in [8, 32, 128]") {
		if text, ok := r.level(item); ok {
			out = append(out, experiment.Level{Text: text, At: item.at})
		}
	}
	return out
}

// level reads the text of a level, in which nothing is a reference.
func (r *reader) level(v *value) (string, bool) {
	switch v.kind {
	case mapping:
		r.faultAt(v, "", "a level with set or is: %w", experiment.ErrNotYet)
		return "", false
	case null:
		r.faultAt(v, `"" sets the empty text`, "a null level, which leaves the setting unset: %w", experiment.ErrNotYet)
		return "", false
	default:
		return r.plain(v)
	}
}

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
		known: words("rounds seed"),
		later: words("until within at_most"),
		never: map[string]string{"best_of": bestOf, "best-of": bestOf, "best": bestOf, "take": bestOf},
	}
}

func (r *reader) repeat(v *value) experiment.RepeatPlan {
	o := r.object(v, repeatShape())
	return experiment.RepeatPlan{
		Rounds: r.count(o["rounds"], experiment.DefaultRounds, 1, experiment.MaxRounds),
		Seed:   uint64(r.count(o["seed"], experiment.DefaultSeed, 0, math.MaxInt64)),
	}
}

func judgeShape() shape {
	return shape{
		known: words("metric minimum_effect confidence error_rate guards"),
		never: map[string]string{"best_of": bestOf, "best-of": bestOf, "best": bestOf},
	}
}

func (r *reader) judge(v *value) experiment.Settings {
	o := r.object(v, judgeShape())
	out := experiment.Settings{
		Metric:        experiment.DefaultMetric,
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
	o := r.object(f.value, shape{known: words("above")})
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
		"noisy-cell": false, "round-without-baseline": false, "host-suspended": false, "conductor-paused": false,
	}
}

// laterGuards are the codes of the language's guards that this version lacks: to
// turn one off or to move it would change nothing.
func laterGuards() []string {
	return words("generator-late emulated-image window-short not-warm drift order-drift flat-load in-flight-limit " +
		"pool-saturated cpu-cap scrape-gap work-differs spread ceiling " +
		"a-a-failed level-out-of-reach")
}
