package matrixfile

import (
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// commonSteps are the fields of every step; what it expects stands beside them.
const (
	commonSteps  = "in run http log file regex json csv only within"
	expectations = " has is near"
)

func readyShape() shape {
	return shape{
		known: words("port times " + commonSteps + expectations),
		never: map[string]string{"image": "a service is ready when it answers itself"},
	}
}

func prepareShape() shape {
	return shape{
		known: words("image " + commonSteps + expectations),
		never: map[string]string{"port": "a port that answers prepares nothing (it may stand in ready)"},
	}
}

func confirmShape() shape {
	return shape{
		known: words("at image " + commonSteps + expectations),
		never: map[string]string{
			"port":  "a port that answers confirms no setting (it may stand in ready)",
			"times": "it counts lines of a log (it may stand in ready)",
		},
	}
}

func (r *reader) ready(v *value) *experiment.Step {
	if v == nil {
		return nil
	}
	s := r.step(v, r.object(v, readyShape()), experiment.DefaultReadyWithin)
	return &s
}

func (r *reader) confirm(v *value) []experiment.Step {
	var out []experiment.Step
	for _, item := range r.items(v, `as in [{http: ":8080/config", json: {threads: .threads}, is: {threads: "${threads}"}}]`) {
		o := r.object(item, confirmShape())
		s := r.step(item, o, experiment.DefaultConfirmWithin)
		s.When = r.oneOf(o["at"], "", words(experiment.ConfirmBefore+" "+experiment.ConfirmAfter), nil)
		if s.When == experiment.ConfirmBefore {
			s.When = "" // said or not, it is the same
		}
		out = append(out, s)
	}
	return out
}

func (r *reader) steps(v *value, sh shape, within time.Duration) []experiment.Step {
	var out []experiment.Step
	for _, item := range r.items(v, `as in [{in: app, run: [app, seed]}]`) {
		out = append(out, r.step(item, r.object(item, sh), within))
	}
	return out
}

func preparationShape() shape { return shape{known: words("steps snapshot")} }

// preparation reads steps, or a mapping that holds them.
func (r *reader) preparation(v *value) experiment.Preparation {
	if v == nil || v.kind != mapping {
		return experiment.Preparation{Steps: r.steps(v, prepareShape(), experiment.DefaultJobWithin)}
	}
	o := r.object(v, preparationShape())
	r.require(v, o, "steps")
	steps := o["steps"]
	if steps != nil {
		steps = moved(steps, v.path)
	}
	return experiment.Preparation{
		Steps:    r.steps(steps, prepareShape(), experiment.DefaultJobWithin),
		Snapshot: r.boolean(o["snapshot"], false),
	}
}

// step reads what steps have in common.
func (r *reader) step(v *value, o object, within time.Duration) experiment.Step {
	s := experiment.Step{
		At:     v.at,
		Image:  r.template(o["image"], ""),
		Run:    r.templates(o["run"], "as in [redis-cli, ping]"),
		HTTP:   r.template(o["http"], ""),
		File:   r.template(o["file"], ""),
		Has:    r.template(o["has"], ""),
		Within: r.duration(o["within"], within),
		Times:  r.count(o["times"], 0, 1, 1_000_000),
		Port:   parsed(r, o["port"], 0, experiment.ParsePort),
		JSON:   r.extracts(o["json"], "as in {threads: .threads}"),
		CSV:    r.extracts(o["csv"], "as in {rows: row_count}"),
		Near:   r.near(o["near"]),
		Only:   r.only(o["only"]),
	}
	if s.Times == 1 {
		s.Times = 0 // said or not, it is the same
	}
	s.In, _ = r.plain(o["in"])
	s.Log, _ = r.plain(o["log"])
	s.Regex, _ = r.plain(o["regex"])
	if s.Within < time.Millisecond {
		r.faultAt(o["within"], "", "%q is shorter than 1ms", o["within"].text)
	}
	for _, f := range r.names(o["is"], `as in {threads: "${threads}"}`) {
		s.Is = append(s.Is, experiment.Expected{Name: f.name, Value: r.template(f.value, "")})
	}
	return s
}

func (r *reader) extracts(v *value, hint string) []experiment.Extract {
	var out []experiment.Extract
	for _, f := range r.names(v, hint) {
		if path, ok := r.plain(f.value); ok {
			out = append(out, experiment.Extract{Name: f.name, Path: path})
		}
	}
	return out
}

// near reads values with the share by which they may differ.
func (r *reader) near(v *value) []experiment.Near {
	const form = `as in {size: "64±5%"}`
	var out []experiment.Near
	for _, f := range r.names(v, form) {
		text, ok := r.text(f.value)
		if !ok {
			continue
		}
		i, size := strings.LastIndex(text, "±"), len("±")
		if i < 0 {
			i, size = strings.LastIndex(text, "+-"), len("+-")
		}
		if i < 0 {
			r.faultAt(f.value, form, "%q is not VALUE±SHARE", text)
			continue
		}
		share, err := experiment.ParseFraction(strings.TrimSpace(text[i+size:]))
		if err != nil {
			r.faultAt(f.value, "", "%w", err)
			continue
		}
		middle := *f.value
		middle.text = strings.TrimSpace(text[:i])
		out = append(out, experiment.Near{Name: f.name, Value: r.template(&middle, ""), Share: share})
	}
	return out
}
