package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// The names in these types are stable: programs read them.

type comparisonJSON struct {
	Sweep           sweepJSON       `json:"sweep"`
	Labels          []string        `json:"labels"`   // what must be known before the numbers are read
	Settings        settingsJSON    `json:"settings"` // in force
	Declared        settingsJSON    `json:"declared_settings"`
	SettingsHash    string          `json:"settings_hash"`
	AnalysisVersion string          `json:"analysis_version"`
	Stop            *stopJSON       `json:"stop"` // null: the number of rounds is fixed
	Summary         []string        `json:"summary"`
	Cells           []cellJSON      `json:"cells"` // ladders as a whole too
	Changes         []changeJSON    `json:"changes"`
	Responses       []responseJSON  `json:"responses"`
	Ladders         []ladderJSON    `json:"ladders"`
	GeneratorCPU    *useJSON        `json:"generator_cpu"`
	Calibration     *calibratedJSON `json:"calibration"`
	AAHistory       aaJSON          `json:"aa_history"`
	Findings        []findingJSON   `json:"findings"`
	ExcludedRuns    []runJSON       `json:"excluded_runs"`
}

type sweepJSON struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Question   string `json:"question"`
	Hash       string `json:"hash"`
	Serial     int    `json:"serial"`
	Runner     string `json:"runner"`
	Seed       uint64 `json:"seed"`
	Rounds     int    `json:"rounds"`
	RoundsDone int    `json:"rounds_done"`
	Stopped    bool   `json:"stopped_by_hand"`
	Ended      string `json:"ended,omitempty"`       // how the last invocation did
	PeelParent int64  `json:"peel_parent,omitempty"` // the sweep before it in a peel
	Began      string `json:"began,omitempty"`       // UTC, RFC 3339
}

type settingsJSON struct {
	Metric        string               `json:"metric"`
	MinimumEffect *float64             `json:"minimum_effect"`
	Confidence    *float64             `json:"confidence"`
	ErrorRate     *float64             `json:"error_rate"`
	Guards        map[string]guardJSON `json:"guards"`
	Objectives    []objectiveJSON      `json:"objectives"`
	AcceptRounds  bool                 `json:"accept_rounds"`
	Without       []string             `json:"without"`
}

type cellJSON struct {
	Stage     string               `json:"stage"`
	Condition string               `json:"condition"`
	Role      string               `json:"role"`
	Label     string               `json:"label"`
	Factor    string               `json:"factor"`
	Level     string               `json:"level"`
	Settings  []experiment.Setting `json:"settings"`
	N         int                  `json:"n"`
	Metrics   []metricJSON         `json:"metrics"`
}

type metricJSON struct {
	Metric   string        `json:"metric"`
	Primary  bool          `json:"primary"`
	Interval *intervalJSON `json:"interval"`
	Compared *comparedJSON `json:"compared"`
}

type intervalJSON struct {
	Unit       string     `json:"unit"`
	N          int        `json:"n"`
	Estimate   *float64   `json:"estimate"`
	Low        *float64   `json:"low"`
	High       *float64   `json:"high"`
	Confidence *float64   `json:"confidence"`
	Method     string     `json:"method"`
	Median     *float64   `json:"median"`
	Min        *float64   `json:"min"`
	Max        *float64   `json:"max"`
	CV         *float64   `json:"cv"`
	Values     []*float64 `json:"values"`
	Flags      []string   `json:"flags"`
	State      string     `json:"state"`
}

type comparedJSON struct {
	Scale        string   `json:"scale"`
	Estimate     *float64 `json:"estimate"`
	Low          *float64 `json:"low"`
	High         *float64 `json:"high"`
	Confidence   *float64 `json:"confidence"`
	EqLow        *float64 `json:"eq_low"`
	EqHigh       *float64 `json:"eq_high"`
	P            *float64 `json:"p"`
	PAdjusted    *float64 `json:"p_adjusted"`
	Rounds       int      `json:"rounds"`
	Method       string   `json:"method"`
	Verdict      string   `json:"verdict"`
	Reason       string   `json:"reason"`
	Material     string   `json:"material"`
	RoundsNeeded int      `json:"rounds_needed"`
	Flags        []string `json:"flags"`
	State        string   `json:"state"`
	Limit        *float64 `json:"limit,omitempty"` // of an objective; then estimate and interval are the cell's own
}

// ladderJSON is a ladder and what its rungs came to; its ceiling is a metric of the
// cell.
type ladderJSON struct {
	Stage       string     `json:"stage"`
	Condition   string     `json:"condition"`
	Label       string     `json:"label"`
	Status      string     `json:"status"`       // empty: nothing has run
	State       string     `json:"state"`        // as that of its ceiling; empty: not judged
	Above       *float64   `json:"above"`        // every rung is sustained: offered at the top, 1/s
	Sustained   *float64   `json:"sustained"`    // offered at the last rung before the first break, 1/s
	Broken      *float64   `json:"broken"`       // offered at the first break, 1/s
	Tail        string     `json:"tail"`         // metric
	TailFirst   *float64   `json:"tail_first"`   // offered where the tail moves first, 1/s
	MedianFirst *float64   `json:"median_first"` // offered where the median moves first, 1/s
	Rungs       []rungJSON `json:"rungs"`
}

type rungJSON struct {
	Rung      string   `json:"rung"`
	N         int      `json:"n"`
	Offered   *float64 `json:"offered"`
	Achieved  *float64 `json:"achieved"`
	Dropped   *float64 `json:"dropped"`
	ErrorRate *float64 `json:"error_rate"`
	Median    *float64 `json:"latency_p50"`
	Tail      *float64 `json:"tail"`
	Sustained bool     `json:"sustained"`
	Broken    string   `json:"broken"` // why it is not sustained
}

type useJSON struct {
	Low   float64  `json:"low"`  // cores
	High  float64  `json:"high"` // cores
	Cores int      `json:"cores"`
	Limit *float64 `json:"limit"` // share of the cores
}

type findingJSON struct {
	Code      string   `json:"code"`
	Severity  string   `json:"severity"`
	Run       int64    `json:"run,omitempty"`
	Cell      string   `json:"cell,omitempty"` // its label
	Condition string   `json:"condition,omitempty"`
	Service   string   `json:"service,omitempty"`
	Metric    string   `json:"metric,omitempty"`
	Value     *float64 `json:"value"`
	Threshold *float64 `json:"threshold"`
	Message   string   `json:"message"`
}

type runJSON struct {
	Run       int64  `json:"run"`
	Cell      string `json:"cell"`
	Condition string `json:"condition,omitempty"`
	Round     int    `json:"round"`
	Attempt   int    `json:"attempt"`
	State     string `json:"state"`
	Reason    string `json:"reason"`
}

func (r Report) json() comparisonJSON {
	s := r.Sweep
	out := comparisonJSON{
		Sweep: sweepJSON{
			ID: s.ID, Name: s.Name, Question: s.Question, Hash: s.Hash, Serial: s.Serial, Runner: s.Runner, Seed: s.Seed,
			Rounds: r.planned(), RoundsDone: r.Results.RoundsDone, Stopped: r.halted() || r.accepted() != "", Ended: s.Ended,
			PeelParent: s.PeelParent, Began: stamp(s.Began),
		},
		Labels: append([]string{}, r.labels()...), Settings: settingsOf(r.settings()), Declared: settingsOf(s.Settings),
		SettingsHash: r.Results.SettingsHash, AnalysisVersion: r.Results.Version, Stop: r.stopJSON(),
		Summary: r.said(), Cells: []cellJSON{}, Changes: r.changesJSON(), Responses: r.responsesJSON(), Ladders: []ladderJSON{},
		Calibration: calibrationOf(s.Calibration), AAHistory: aaJSON(s.AA),
		Findings: r.findingsJSON(r.allFindings()), ExcludedRuns: []runJSON{},
	}
	for _, g := range r.groups() {
		for _, x := range g.rows {
			out.Cells = append(out.Cells, r.cellJSON(x))
		}
	}
	for _, c := range r.climbs {
		out.Ladders = append(out.Ladders, r.climbJSON(c))
	}
	if use, ok := r.generatorUse(); ok {
		out.GeneratorCPU = &useJSON{Low: use.low, High: use.high, Cores: use.cores, Limit: number64(use.limit)}
	}
	for _, run := range s.Runs {
		switch run.State {
		case experiment.StateOK, experiment.StatePending, experiment.StateRunning:
		default:
			j := runJSON{Run: run.ID, Cell: string(run.Cell), Round: run.Round, Attempt: run.Attempt, State: string(run.State), Reason: run.Reason}
			if c, ok := r.Sweep.Cell(run.Cell); ok {
				j.Cell, j.Condition = c.Label(), c.Condition
			}
			out.ExcludedRuns = append(out.ExcludedRuns, j)
		}
	}
	return out
}

func (r Report) cellJSON(x row) cellJSON {
	c := cellJSON{
		Stage: x.cell.Stage, Condition: x.cell.Condition, Role: string(x.cell.Role), Label: x.cell.Label(), Factor: x.cell.Factor,
		Level: x.cell.Level, Settings: x.cell.Settings, N: x.n, Metrics: []metricJSON{},
	}
	if c.Settings == nil {
		c.Settings = []experiment.Setting{}
	}
	for _, name := range r.metrics(x) {
		m := metricJSON{Metric: name, Primary: name == r.primary()}
		if i, ok := x.intervals[name]; ok {
			m.Interval = &intervalJSON{
				Unit: string(i.Unit), N: i.N, Estimate: clean(i.Estimate), Low: clean(i.Low), High: clean(i.High),
				Confidence: number64(i.Confidence), Method: string(i.Method), Median: clean(i.Median), Min: clean(i.Min), Max: clean(i.Max),
				CV: clean(i.CV), Values: []*float64{}, Flags: flagNames(i.Flags), State: i.State,
			}
			for _, v := range i.Values {
				m.Interval.Values = append(m.Interval.Values, number64(v))
			}
		}
		if v, ok := x.compared[name]; ok {
			m.Compared = comparedOf(v)
			m.Compared.Limit = r.limit(name)
		}
		c.Metrics = append(c.Metrics, m)
	}
	return c
}

func comparedOf(c experiment.Comparison) *comparedJSON {
	return &comparedJSON{
		Scale: string(c.Scale), Estimate: clean(c.Estimate), Low: clean(c.Low), High: clean(c.High),
		Confidence: number64(c.Confidence), EqLow: clean(c.EqLow), EqHigh: clean(c.EqHigh), P: clean(c.P), PAdjusted: clean(c.PAdjusted),
		Rounds: c.N, Method: string(c.Method), Verdict: string(c.Verdict), Reason: c.Reason, Material: string(c.Material),
		RoundsNeeded: c.RoundsNeeded, Flags: flagNames(c.Flags), State: c.State,
	}
}

func (r Report) climbJSON(c analysis.Climb) ladderJSON {
	at := func(i int) *float64 {
		if !c.Known || i < 0 || c.Rungs[i].N == 0 {
			return nil
		}
		return number64(c.Rungs[i].Offered)
	}
	k := c.Ceiling
	out := ladderJSON{
		Stage: c.Cell.Stage, Condition: c.Cell.Condition, Label: c.Cell.Label(), Status: string(k.Status), Tail: c.Tail,
		Sustained: at(k.Sustained), Broken: at(k.Broken), TailFirst: at(k.TailFirst), MedianFirst: at(k.MedianFirst), Rungs: []rungJSON{},
	}
	for _, l := range r.Results.Ladders {
		if l.Cell == c.Cell.Key {
			out.State, out.Above = l.State, clean(l.Above)
		}
	}
	for _, x := range c.Rungs {
		j := rungJSON{Rung: x.Level, N: x.N, Broken: x.Broken, Sustained: x.N > 0 && x.Broken == ""}
		if x.N > 0 {
			j.Offered, j.Achieved, j.Dropped, j.ErrorRate = number64(x.Offered), number64(x.Achieved), number64(x.Dropped), number64(x.Errors)
		}
		if x.Median > 0 {
			j.Median = number64(x.Median)
		}
		if x.Tail > 0 {
			j.Tail = number64(x.Tail)
		}
		out.Rungs = append(out.Rungs, j)
	}
	return out
}

func (r Report) findingsJSON(all []experiment.Finding) []findingJSON {
	out := []findingJSON{}
	for _, f := range all {
		j := findingJSON{
			Code: f.Code, Severity: string(f.Severity), Run: f.Run, Service: f.Service, Metric: f.Metric,
			Value: clean(f.Value), Threshold: clean(f.Threshold), Message: f.Message,
		}
		if c, ok := r.Sweep.Cell(f.Cell); ok {
			j.Cell, j.Condition = c.Label(), c.Condition
		}
		out = append(out, j)
	}
	return out
}

// clean takes away what JSON cannot hold.
func clean(v *float64) *float64 {
	if !known(v) {
		return nil
	}
	return v
}

func number64(v float64) *float64 { return clean(&v) }

// stamp is a time in UTC; empty for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
