package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

func (r VersusReport) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{
		"old_sweep", "new_sweep", "stage", "condition", "role", "factor", "level", "metric", "unit", "primary", "n_old", "n_new", "mean_old", "mean_new",
		"scale", "estimate", "low", "high", "confidence", "eq_low", "eq_high", "p", "p_adjusted", "method", "verdict", "reason", "material", "flags", "state",
	}); err != nil {
		return err
	}
	for _, x := range r.Versus.Rows {
		if err := out.Write([]string{
			strconv.FormatInt(r.Old.ID, 10), strconv.FormatInt(r.New.ID, 10), x.New.Stage, x.New.Condition, string(x.New.Role), x.New.Factor, x.New.Level,
			x.Metric, string(x.Unit), strconv.FormatBool(!x.Secondary), strconv.Itoa(x.OldN), strconv.Itoa(x.NewN), raw(x.OldMean), raw(x.NewMean),
			string(x.Scale), raw(x.Estimate), raw(x.Low), raw(x.High), raw(&x.Confidence), raw(x.EqLow), raw(x.EqHigh), raw(x.P), raw(x.PAdjusted),
			string(x.Method), string(x.Verdict), x.Reason, string(x.Material), strings.Join(flagNames(x.Flags), " "), x.State,
		}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// The names in these types are stable: programs read them.

type versusJSON struct {
	Old      versusSweepJSON   `json:"old"`
	New      versusSweepJSON   `json:"new"`
	Settings settingsJSON      `json:"settings"`
	Version  string            `json:"analysis_version"`
	Summary  string            `json:"summary"`
	Untested string            `json:"untested"` // why no cell has a verdict; empty if cells may have one
	Differs  []differenceJSON  `json:"differs"`
	Cells    []versusCellJSON  `json:"cells"`
	OnlyOld  []versusLabelJSON `json:"only_old"`
	OnlyNew  []versusLabelJSON `json:"only_new"`
}

type versusSweepJSON struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Serial int    `json:"serial"`
	Runner string `json:"runner"`
	Rounds int    `json:"rounds"`
	Began  string `json:"began,omitempty"` // UTC, RFC 3339
	Host   string `json:"host"`            // its identity
}

type differenceJSON struct {
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

type versusLabelJSON struct {
	Stage     string               `json:"stage"`
	Condition string               `json:"condition"`
	Role      string               `json:"role"`
	Label     string               `json:"label"`
	Settings  []experiment.Setting `json:"settings"`
}

type versusCellJSON struct {
	versusLabelJSON
	Old     versusLabelJSON    `json:"old"` // its place in the old sweep
	Metrics []versusMetricJSON `json:"metrics"`
}

type versusMetricJSON struct {
	Metric   string        `json:"metric"`
	Primary  bool          `json:"primary"`
	Unit     string        `json:"unit"`
	NOld     int           `json:"n_old"`
	NNew     int           `json:"n_new"`
	MeanOld  *float64      `json:"mean_old"`
	MeanNew  *float64      `json:"mean_new"`
	Compared *comparedJSON `json:"compared"`
}

func (r VersusReport) json() versusJSON {
	out := versusJSON{
		Old: versusSweep(r.Old), New: versusSweep(r.New), Version: r.Versus.Version, Summary: r.summary(), Untested: r.Versus.Untested,
		Settings: settingsOf(r.Versus.Settings),
		Differs:  []differenceJSON{}, Cells: []versusCellJSON{}, OnlyOld: versusLabels(r.Versus.OnlyOld), OnlyNew: versusLabels(r.Versus.OnlyNew),
	}
	for _, d := range r.Versus.Differs {
		out.Differs = append(out.Differs, differenceJSON(d))
	}
	at := map[experiment.CellKey]int{}
	for _, x := range r.Versus.Rows {
		i, ok := at[x.New.Key]
		if !ok {
			i = len(out.Cells)
			at[x.New.Key] = i
			out.Cells = append(out.Cells, versusCellJSON{versusLabelJSON: versusLabel(x.New), Old: versusLabel(x.Old)})
		}
		out.Cells[i].Metrics = append(out.Cells[i].Metrics, versusMetric(x))
	}
	return out
}

func versusMetric(x analysis.VersusRow) versusMetricJSON {
	return versusMetricJSON{
		Metric: x.Metric, Primary: !x.Secondary, Unit: string(x.Unit), NOld: x.OldN, NNew: x.NewN, MeanOld: clean(x.OldMean), MeanNew: clean(x.NewMean),
		Compared: comparedOf(x.Comparison),
	}
}

func versusSweep(s experiment.Sweep) versusSweepJSON {
	return versusSweepJSON{ID: s.ID, Name: s.Name, Hash: s.Hash, Serial: s.Serial, Runner: s.Runner, Rounds: s.Rounds, Began: stamp(s.Began), Host: s.Host.ID()}
}

func versusLabel(c experiment.Cell) versusLabelJSON {
	out := versusLabelJSON{Stage: c.Stage, Condition: c.Condition, Role: string(c.Role), Label: c.Label(), Settings: c.Settings}
	if out.Settings == nil {
		out.Settings = []experiment.Setting{}
	}
	return out
}

func versusLabels(cells []experiment.Cell) []versusLabelJSON {
	out := []versusLabelJSON{}
	for _, c := range cells {
		out = append(out, versusLabel(c))
	}
	return out
}
