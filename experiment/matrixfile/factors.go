package matrixfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

func factorShape() shape { return shape{known: words("baseline levels unit only")} }

func (r *reader) factors(v *value) []experiment.Factor {
	r.sets = map[string]map[string]*value{}
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
			f.value.items[i] = moved(item, fmt.Sprintf("%s.levels[%d]", f.value.path, i))
		}
		out.Levels = r.levels(f.name, f.value)
		return out
	}
	if f.value.kind != mapping {
		r.want(f.value, list, "as in "+f.name+": [8, 32]")
		return out
	}
	o := r.object(f.value, factorShape())
	r.require(f.value, o, "levels")
	out.Levels = r.levels(f.name, o["levels"])
	out.Unit, _ = r.plain(o["unit"])
	out.Only = r.only(o["only"])
	out.Baseline = r.baseline(o["baseline"], out.Levels)
	return out
}

// baseline gives the index of the level that is named.
func (r *reader) baseline(v *value, levels []experiment.Level) int {
	text, ok := r.levelName(v)
	if !ok || len(levels) == 0 {
		return 0
	}
	i := slices.IndexFunc(levels, func(l experiment.Level) bool { return l.Text == text })
	if i < 0 {
		var known []string
		for _, l := range levels {
			known = append(known, strconv.Quote(l.Text))
		}
		r.faultAt(v, "levels: "+strings.Join(known, ", "), "the baseline %q is no level", text)
		return 0
	}
	return i
}

func (r *reader) levels(factor string, v *value) []experiment.Level {
	var out []experiment.Level
	for _, item := range r.items(v, "as in [8, 32, 128]") {
		l := experiment.Level{At: item.at}
		ok := true
		switch item.kind {
		case null:
			l.Text, l.Unset = experiment.NullLevel, true
		case mapping:
			ok = r.keyedLevel(factor, item, &l)
		default:
			l.Text, ok = r.plain(item)
		}
		if ok {
			out = append(out, l)
		}
	}
	return out
}

func levelShape() shape { return shape{known: words("name is set")} }

func overlayShape() shape { return shape{known: words("services links load")} }

// keyedLevel reads a level with a name, settings that move together, and an overlay.
// The overlay is kept as it stands: what it means depends on what it is put over.
func (r *reader) keyedLevel(factor string, v *value, l *experiment.Level) bool {
	o := r.object(v, levelShape())
	r.require(v, o, "name")
	var ok bool
	if l.Text, ok = r.plain(o["name"]); !ok {
		return false
	}
	if o["is"] == nil && o["set"] == nil && !v.has("is") && !v.has("set") {
		r.faultAt(v, "as in "+strconv.Quote(l.Text)+" alone", "a level of this form has is or set")
	}
	for _, f := range r.names(o["is"], "as in {threads: 4, cpus: 4}") {
		t, err := experiment.ParseTemplate("${"+factor+"."+f.name+"}", f.at)
		if refs := t.Refs(); err != nil || len(refs) != 1 || refs[0].Key != f.name {
			r.fault(f.at, f.value.path, errors.New("no name of a key"), "letters, digits, _, - and .")
			continue
		}
		text, _ := r.plain(f.value)
		l.Is = append(l.Is, experiment.KeyValue{Key: f.name, Value: text})
	}
	if set := o["set"]; set != nil {
		if overlay := r.object(set, overlayShape()); len(overlay) > 0 {
			l.Set = true
			if r.sets[factor] == nil {
				r.sets[factor] = map[string]*value{}
			}
			r.sets[factor][l.Text] = set
		} else if set.kind == mapping && len(set.fields) == 0 {
			r.faultAt(set, "as in {services: {app: {image: app:2}}}", "sets nothing")
		}
	}
	return true
}

// levelName reads the name of a level of some factor.
func (r *reader) levelName(v *value) (string, bool) {
	if v != nil && v.kind == null {
		return experiment.NullLevel, true
	}
	return r.plain(v)
}

// only reads where something exists.
func (r *reader) only(v *value) []experiment.Only {
	var out []experiment.Only
	for _, f := range r.names(v, "as in {via: pgbouncer}") {
		o := experiment.Only{Factor: f.name, At: f.at}
		items := []*value{f.value}
		if f.value.kind == list {
			items = f.value.items
		}
		for _, item := range items {
			if text, ok := r.levelName(item); ok {
				o.Levels = append(o.Levels, text)
			}
		}
		if f.value.kind == list && len(items) == 0 {
			r.faultAt(f.value, "", "names no level")
		}
		out = append(out, o)
	}
	if v != nil && v.kind == mapping && len(out) == 0 {
		r.faultAt(v, "as in {via: pgbouncer}", "names no factor")
	}
	return out
}
