package matrixfile

import "github.com/ceteris/ceteris/experiment"

func stageShape() shape { return shape{known: words("name baseline")} }

// design reads which cells there are. Cells that are chosen without a word about the
// sweep are the only ones.
func (r *reader) design(o object) experiment.Design {
	var d experiment.Design
	if v := o["sweep"]; v != nil && (v.kind == mapping || v.kind == list) {
		r.faultAt(v, "cells, interactions and stages stand beside it", "wants text, has %v", v.kind)
	} else {
		kinds := words(string(experiment.OneAtATime) + " " + string(experiment.Grid) + " " + string(experiment.ChosenCells))
		d.Kind = experiment.DesignKind(r.oneOf(v, "", kinds, nil))
	}
	switch {
	case d.Kind == experiment.OneAtATime:
		d.Kind = "" // said or not, it is the same sweep
	case o["sweep"] == nil && o["cells"] != nil:
		d.Kind = experiment.ChosenCells
	}
	d.Cells = r.selections(o["cells"], "as in [{threads: 8, pool: 8}]")
	d.Except = r.selections(o["except"], "as in [{threads: 8, pool: 1}]")
	for _, item := range r.items(o["interactions"], "as in [[threads, pool]]") {
		if group := r.list(item, "as in [[threads, pool]]"); group != nil {
			d.Interactions = append(d.Interactions, group)
		}
	}
	for _, item := range r.items(o["stages"], "as in [{name: first}, {name: moved, baseline: {threads: 8}}]") {
		so := r.object(item, stageShape())
		r.require(item, so, "name")
		s := experiment.Stage{At: item.at, Baseline: r.settings(so["baseline"], "as in {threads: 8}")}
		s.Name, _ = r.plain(so["name"])
		d.Stages = append(d.Stages, s)
	}
	d.Across = r.list(o["across"], "as in [users]")
	return d
}

func (r *reader) selections(v *value, hint string) []experiment.Selection {
	var out []experiment.Selection
	for _, item := range r.items(v, hint) {
		out = append(out, experiment.Selection{Settings: r.settings(item, hint), At: item.at})
	}
	return out
}

// settings reads a choice of levels.
func (r *reader) settings(v *value, hint string) []experiment.Setting {
	var out []experiment.Setting
	for _, f := range r.names(v, hint) {
		if level, ok := r.levelName(f.value); ok {
			out = append(out, experiment.Setting{Factor: f.name, Level: level})
		}
	}
	return out
}
