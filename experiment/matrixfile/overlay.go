package matrixfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// variants reads subject and load once for each combination of levels with set that
// occurs in a cell.
func (r *reader) variants(subject, load *value, m *experiment.Matrix) []experiment.Variant {
	unreadable := slices.ContainsFunc(m.Factors, func(f experiment.Factor) bool { return len(f.Levels) == 0 })
	if len(r.sets) == 0 || unreadable || m.MostCells() > experiment.MaxCells {
		return nil
	}
	for _, levels := range r.sets { // each alone, for what it says about what is declared
		for _, set := range levels {
			r.overlaid(subject, load, set)
		}
	}
	var out []experiment.Variant
	for _, c := range m.Cells() {
		when, changed := r.when(m, c)
		if !changed || slices.ContainsFunc(out, func(v experiment.Variant) bool { return slices.Equal(v.When, when) }) {
			continue
		}
		s, l, before := subject, load, len(r.faults)
		for _, w := range when {
			s, l = r.overlaid(s, l, r.sets[w.Factor][w.Level])
		}
		r.faults = r.faults[:before] // said above; two may remove the same
		v := experiment.Variant{When: when}
		v.Subject, v.Load = r.system(s, l)
		out = append(out, v)
		places := map[string]experiment.Pos{}
		locate(s, places)
		locate(l, places)
		r.variantPlaces = append(r.variantPlaces, places)
	}
	return out
}

// when gives the levels of the factors that have one with set, and whether the cell
// has such a level.
func (r *reader) when(m *experiment.Matrix, c experiment.Cell) (when []experiment.Setting, changed bool) {
	for _, f := range m.Factors {
		if r.sets[f.Name] == nil {
			continue
		}
		level, _ := c.Lookup(f.Name)
		when = append(when, experiment.Setting{Factor: f.Name, Level: level})
		changed = changed || r.sets[f.Name][level] != nil
	}
	return when, changed
}

// overlaid puts the overlay of a level over subject and load; nil changes nothing.
func (r *reader) overlaid(subject, load, set *value) (*value, *value) {
	if set == nil {
		return subject, load
	}
	over := &value{kind: mapping, at: set.at}
	for _, f := range set.fields {
		switch f.name {
		case "services", "links":
			over.fields = append(over.fields, f)
		case "load":
			load = r.merge("load", load, f.value)
		}
	}
	if len(over.fields) > 0 {
		subject = r.merge("subject", subject, over)
	}
	return subject, load
}

// merge puts one tree over another: mappings merge, everything else replaces, null
// removes. What it gives stands on the path of what it replaces, each node where it is
// in the file.
func (r *reader) merge(path string, base, over *value) *value {
	if base == nil || base.kind != mapping || over.kind != mapping {
		return moved(over, path)
	}
	out := &value{kind: mapping, path: path, at: base.at, fields: slices.Clone(base.fields)}
	for _, f := range over.fields {
		at := join(path, f.name)
		i := slices.IndexFunc(out.fields, func(b field) bool { return b.name == f.name })
		switch {
		case f.value.kind == null && i < 0:
			hint := ""
			if near := experiment.Suggest(f.name, base.names()); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.fault(f.at, at, errors.New("null removes, and there is nothing"), hint)
		case f.value.kind == null:
			out.fields = slices.Delete(out.fields, i, i+1)
		case i < 0:
			out.fields = append(out.fields, field{name: f.name, at: f.at, value: moved(f.value, at)})
		default:
			merged := field{name: f.name, at: out.fields[i].at, value: r.merge(at, out.fields[i].value, f.value)}
			if merged.value.kind != mapping || out.fields[i].value.kind != mapping {
				merged.at = f.at
			}
			out.fields[i] = merged
		}
	}
	return out
}

// moved copies a tree to another path.
func moved(v *value, path string) *value {
	out := *v
	out.path = path
	out.fields = nil
	for _, f := range v.fields {
		f.value = moved(f.value, join(path, f.name))
		out.fields = append(out.fields, f)
	}
	out.items = nil
	for i, item := range v.items {
		out.items = append(out.items, moved(item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return &out
}

// locate records where the fields of a tree stand: texts themselves, everything else
// by its key.
func locate(v *value, places map[string]experiment.Pos) {
	if v == nil {
		return
	}
	if _, known := places[v.path]; !known {
		places[v.path] = v.at
	}
	for _, item := range v.items {
		locate(item, places)
	}
	for _, f := range v.fields {
		if f.value.kind != scalar {
			places[f.value.path] = f.at
		}
		locate(f.value, places)
	}
}
