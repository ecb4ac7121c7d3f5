package report

import (
	"cmp"

	"github.com/ceteris/ceteris/experiment"
)

// The names in these types are stable, as those of comparisonJSON.

type guardJSON struct {
	Off   bool     `json:"off"`
	Above *float64 `json:"above"`
}

type objectiveJSON struct {
	Metric string   `json:"metric"`
	Limit  *float64 `json:"limit"`
}

// stopJSON is a rule of stopping and how the sweep stands by it.
type stopJSON struct {
	Until      string   `json:"until"`
	AtMost     int      `json:"at_most"` // rounds
	Met        bool     `json:"met"`
	MetIn      []string `json:"met_in"`     // stages
	At         int      `json:"at"`         // rounds at the last look; 0: there was none
	Confidence *float64 `json:"confidence"` // of the intervals that are reported at the nominal one
	Target     *float64 `json:"target"`     // half-width; null: the rule has none
	HalfWidth  *float64 `json:"half_width"` // the widest
	Open       int      `json:"open"`       // comparisons
}

// changeJSON is an effect in one place against the same effect in an earlier one.
type changeJSON struct {
	Kind       string    `json:"kind"`
	Metric     string    `json:"metric"`
	Primary    bool      `json:"primary"`
	Factor     string    `json:"factor"` // whose effect it is
	Level      string    `json:"level"`
	Cell       placeJSON `json:"cell"`
	From       placeJSON `json:"from"`
	FromSweep  int64     `json:"from_sweep,omitempty"` // where from is, if that is another sweep
	Scale      string    `json:"scale"`
	Before     *float64  `json:"effect_before"`
	After      *float64  `json:"effect_after"`
	Estimate   *float64  `json:"estimate"` // after by before, or after less before
	Low        *float64  `json:"low"`
	High       *float64  `json:"high"`
	Confidence *float64  `json:"confidence"`
	EqLow      *float64  `json:"eq_low"`
	EqHigh     *float64  `json:"eq_high"`
	P          *float64  `json:"p"`
	PAdjusted  *float64  `json:"p_adjusted"`
	Rounds     int       `json:"rounds"`
	Method     string    `json:"method"`
	Verdict    string    `json:"verdict"`
	Reason     string    `json:"reason"`
	Material   string    `json:"material"`
	Flags      []string  `json:"flags"`
	State      string    `json:"state"`
}

type placeJSON struct {
	Stage     string `json:"stage"`
	Condition string `json:"condition"`
	Label     string `json:"label"`
}

// responseJSON is how a metric answers to the levels of a numeric factor.
type responseJSON struct {
	Stage     string      `json:"stage"`
	Condition string      `json:"condition"`
	Factor    string      `json:"factor"`
	Metric    string      `json:"metric"`
	Primary   bool        `json:"primary"`
	Levels    []levelJSON `json:"levels"` // the smallest first
	Trend     string      `json:"trend"`
	Test      string      `json:"test"`
	P         *float64    `json:"p"`
	Reason    string      `json:"reason"`
	Knee      *kneeJSON   `json:"knee"`
	USL       *uslJSON    `json:"usl"`
	Best      string      `json:"best"`     // level
	Smallest  string      `json:"smallest"` // level that is equivalent to the best
	State     string      `json:"state"`
}

type levelJSON struct {
	Level string   `json:"level"`
	Value *float64 `json:"value"`
	N     int      `json:"n"`
	Mean  *float64 `json:"mean"`
	Fit   *float64 `json:"fit"`
}

type kneeJSON struct {
	At     *float64 `json:"at"` // level
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

type uslJSON struct {
	Lambda *float64 `json:"lambda"`
	Sigma  *float64 `json:"sigma"`
	Kappa  *float64 `json:"kappa"`
	SE     *float64 `json:"se"`
	Peak   *float64 `json:"peak"` // level
	Reason string   `json:"reason"`
}

// calibratedJSON is what identical cells showed on the host.
type calibratedJSON struct {
	Sweep        int64       `json:"sweep"`
	Host         string      `json:"host"`
	Name         string      `json:"name"`
	Metric       string      `json:"metric"`
	When         string      `json:"when"`
	Copies       int         `json:"copies"`
	Rounds       int         `json:"rounds"`
	Block        int         `json:"block"`
	Comparisons  int         `json:"comparisons"`
	Alarms       int         `json:"alarms"`
	Limit        int         `json:"limit"`
	Families     int         `json:"families"`
	FamilyAlarms int         `json:"family_alarms"`
	SD           *float64    `json:"sd"`
	Shows        []showsJSON `json:"shows"`
}

type showsJSON struct {
	Rounds int      `json:"rounds"`
	Effect *float64 `json:"effect"`
}

// aaJSON counts the controls of other sweeps on the host.
type aaJSON struct {
	Comparisons int `json:"comparisons"`
	Alarms      int `json:"alarms"`
}

func settingsOf(s experiment.Settings) settingsJSON {
	out := settingsJSON{
		Metric: cmp.Or(s.Metric, experiment.DefaultMetric), MinimumEffect: number64(s.MinimumEffect), Confidence: number64(s.Confidence),
		ErrorRate: number64(s.ErrorRate), Guards: map[string]guardJSON{}, Objectives: []objectiveJSON{},
		AcceptRounds: s.AcceptRounds, Without: append([]string{}, s.Without...),
	}
	for name, g := range s.Guards {
		out.Guards[name] = guardJSON{Off: g.Off, Above: clean(g.Above)}
	}
	for _, o := range s.Objectives {
		out.Objectives = append(out.Objectives, objectiveJSON{Metric: o.Metric, Limit: number64(o.Limit)})
	}
	return out
}

func (r Report) stopJSON() *stopJSON {
	rule, stop := r.Sweep.Stopping, r.Results.Stop
	if rule.Until == experiment.StopFixed {
		return nil
	}
	out := &stopJSON{
		Until: string(rule.Until), AtMost: rule.AtMost, Met: stop.Met, MetIn: append([]string{}, stop.MetIn...), At: stop.At,
		HalfWidth: clean(stop.HalfWidth), Open: stop.Open,
	}
	if stop.Confidence > 0 {
		out.Confidence = number64(stop.Confidence)
	}
	if stop.Target > 0 {
		out.Target = number64(stop.Target)
	}
	return out
}

func (r Report) changesJSON() []changeJSON {
	out := []changeJSON{}
	for _, c := range r.Results.Changes {
		cell, _ := r.Sweep.Cell(c.Cell)
		out = append(out, changeJSON{
			Kind: string(c.Kind), Metric: c.Metric, Primary: c.Metric == r.primary(), Factor: c.Factor, Level: c.Level,
			Cell: placeOf(cell), From: placeOf(r.earlier(c)), FromSweep: c.FromSweep, Scale: string(c.Scale),
			Before: clean(c.Before), After: clean(c.After), Estimate: clean(c.Estimate), Low: clean(c.Low), High: clean(c.High),
			Confidence: number64(c.Confidence), EqLow: clean(c.EqLow), EqHigh: clean(c.EqHigh), P: clean(c.P), PAdjusted: clean(c.PAdjusted),
			Rounds: c.N, Method: string(c.Method), Verdict: string(c.Verdict), Reason: c.Reason, Material: string(c.Material),
			Flags: flagNames(c.Flags), State: c.State,
		})
	}
	return out
}

// placeOf gives nothing of a cell that is not known.
func placeOf(c experiment.Cell) placeJSON {
	if c.Key == "" {
		return placeJSON{}
	}
	return placeJSON{Stage: c.Stage, Condition: c.Condition, Label: c.Label()}
}

func (r Report) responsesJSON() []responseJSON {
	out := []responseJSON{}
	for _, x := range r.Results.Responses {
		j := responseJSON{
			Stage: x.Stage, Condition: x.Condition, Factor: x.Factor, Metric: x.Metric, Primary: x.Metric == r.primary(), Levels: []levelJSON{},
			Trend: string(x.Trend), Test: x.Test, P: clean(x.P), Reason: x.Reason, State: x.State,
			Best: levelOf(x, x.Best), Smallest: levelOf(x, x.Smallest),
		}
		for _, l := range x.Levels {
			j.Levels = append(j.Levels, levelJSON{Level: l.Text, Value: number64(l.Value), N: l.N, Mean: number64(l.Mean), Fit: number64(l.Fit)})
		}
		if k := x.Knee; k != nil {
			j.Knee = &kneeJSON{At: number64(k.At), Before: number64(k.Before), After: number64(k.After)}
		}
		if u := x.USL; u != nil {
			j.USL = &uslJSON{
				Lambda: number64(u.Lambda), Sigma: number64(u.Sigma), Kappa: number64(u.Kappa), SE: number64(u.SE),
				Peak: clean(u.Peak), Reason: u.Reason,
			}
		}
		out = append(out, j)
	}
	return out
}

func calibrationOf(c *experiment.Calibration) *calibratedJSON {
	if c == nil {
		return nil
	}
	out := &calibratedJSON{
		Sweep: c.Sweep, Host: c.Host, Name: c.Name, Metric: c.Metric, When: stamp(c.When), Copies: c.Copies, Rounds: c.Rounds, Block: c.Block,
		Comparisons: c.Comparisons, Alarms: c.Alarms, Limit: c.Limit, Families: c.Families, FamilyAlarms: c.FamilyAlarms,
		SD: number64(c.SD), Shows: []showsJSON{},
	}
	for _, s := range c.Shows {
		out.Shows = append(out.Shows, showsJSON{Rounds: s.Rounds, Effect: number64(s.Effect)})
	}
	return out
}
