package experiment

import (
	"slices"
	"time"
)

// Severity of a finding. Invalid excludes the run by rule.
type Severity string

// The severities.
const (
	SeverityNote    Severity = "note"
	SeverityWarn    Severity = "warn"
	SeverityInvalid Severity = "invalid"
)

// Finding is what a guard found, with its evidence.
type Finding struct {
	Code      string
	Severity  Severity
	Run       int64   // 0 for findings on a cell or the sweep
	Cell      CellKey // empty for findings on the sweep
	Service   string
	Metric    string
	Value     *float64 // measured, in the metric's base unit
	Threshold *float64
	Message   string // one sentence with the evidence
}

// Verdict is the outcome of a comparison.
type Verdict string

// The verdicts.
const (
	VerdictBetter       Verdict = "better"
	VerdictWorse        Verdict = "worse"
	VerdictHigher       Verdict = "higher"
	VerdictLower        Verdict = "lower"
	VerdictEquivalent   Verdict = "equivalent"
	VerdictInconclusive Verdict = "inconclusive"
	VerdictNotTested    Verdict = "not-tested"
	VerdictFails        Verdict = "fails"   // the subject failed in every round of the baseline, or answered no request well in any
	VerdictMeets        Verdict = "meets"   // service level
	VerdictMisses       Verdict = "misses"  // service level
	VerdictPending      Verdict = "pending" // interim: the planned rounds are not done
	VerdictInvalid      Verdict = "invalid" // no valid run left, or none of the baseline's
)

// Material says how much of an effect lies beyond the minimum effect.
type Material string

// The degrees: the whole interval, the estimate, or neither lies beyond it.
const (
	MaterialProven   Material = "proven"
	MaterialLikely   Material = "likely"
	MaterialUnproven Material = "unproven"
)

// Method is how an interval was made.
type Method string

// The methods; see statistics in the analysis package.
const (
	MethodPooledOwn Method = "pooled+own"
	MethodOwn       Method = "own"
	MethodWelch     Method = "welch"
	MethodT         Method = "t"     // a cell alone, raw scale
	MethodTLog      Method = "t-log" // a cell alone, on logs: of the geometric mean
)

// Flag is a remark on a comparison or cell.
type Flag string

// The flags.
const (
	FlagFewRounds         Flag = "FewRounds"
	FlagIncomplete        Flag = "Incomplete"
	FlagSurvivors         Flag = "Survivors"
	FlagZeroVariance      Flag = "ZeroVariance"
	FlagAllTied           Flag = "AllTied"
	FlagMultimodal        Flag = "Multimodal"
	FlagOutlier           Flag = "Outlier"
	FlagCheckDistribution Flag = "CheckDistribution"
	FlagNoisy             Flag = "Noisy"
	FlagReversal          Flag = "Reversal"
)

// The states of results: ResultsFinal once all planned rounds are done. Before that the
// rounds follow (3 of 5, 7 of at most 30): more are to come and there are no verdicts
// yet, or what there is was accepted.
const (
	ResultsFinal   = "final"
	ResultsInterim = "interim: "
	ResultsStopped = "stopped: "
)

// Interval describes a metric in one cell. Low and High are nil below 3 runs.
type Interval struct {
	Cell       CellKey
	Metric     string
	Unit       Unit
	N          int      // counting runs
	Estimate   *float64 // mean, or geometric mean on logs; nil without runs
	Low, High  *float64
	Confidence float64
	Method     Method // empty without an interval
	Median     *float64
	Min, Max   *float64
	CV         *float64 // standard deviation by mean
	Values     []float64
	Flags      []Flag
	State      string // final, "interim: 3 of 5", or "stopped: 3 of 5" where what there is was accepted
}

// Comparison sets a cell against the baseline, for one metric.
type Comparison struct {
	Cell         CellKey
	Metric       string
	Secondary    bool // not the primary metric's family
	Scale        Scale
	Estimate     *float64 // ratio or difference, cell against baseline
	Low, High    *float64 // at Confidence, simultaneous over the family
	EqLow        *float64 // the same construction at 1-2*alpha, for equivalence
	EqHigh       *float64
	Confidence   float64
	P, PAdjusted *float64
	N            int // rounds compared
	Method       Method
	Verdict      Verdict
	Reason       string // why not-tested, or the error's name
	Material     Material
	RoundsNeeded int // still needed for the half-width to reach the minimum effect; an estimate; 0 = not estimated
	Flags        []Flag
	State        string // final, "interim: 3 of 5", or "stopped: 3 of 5"
}

// SweepNote is a remark of the analysis on the whole sweep, for the guards.
type SweepNote struct {
	Code    string // of the analysis: noisy-cell, control-differs, order-drift
	Cell    CellKey
	Metric  string
	Message string
}

// Results are the analysis of a sweep.
type Results struct {
	Intervals    []Interval
	Comparisons  []Comparison
	Changes      []Change
	Responses    []Response
	Ladders      []LadderResult
	Stop         StopReport
	Settings     Settings // in force
	Notes        []SweepNote
	Findings     []Finding // of the sweep, by the judge
	RoundsDone   int
	Planned      int
	SettingsHash string
	Version      string // of the analysis
}

// RunRecord is a run with what was observed in its measured window.
type RunRecord struct {
	Run
	Observations []Observation
}

// Sweep is a stored sweep, as it is analysed and reported.
type Sweep struct {
	ID        int64
	Hash      string
	Serial    int // among sweeps of the same hash, from 1
	Name      string
	Question  string
	Runner    string
	Seed      uint64
	Rounds    int // planned; with a rule, at most
	Stopping  Stopping
	Settings  Settings // as declared
	Factors   []Factor
	Across    []string // factors that are conditions
	Declared  []Metric // metrics that the matrix itself brings
	Ladders   []Ladder // cells whose load rises over a condition
	Cells     []Cell   // in order of declaration; those of Ladders not among them
	Runs      []RunRecord
	Placement Placement
	Host      Host
	Images    Images // of the last invocation
	Version   string // of ceteris, of the last invocation
	Ended     string // outcome of the last invocation; empty while it runs
	Began     time.Time

	PeelParent  int64        // the sweep before it in a peel; 0: none
	Before      *Sweep       // that sweep, with its runs; nil: none, or not loaded
	Calibration *Calibration // of the host, the newest for the primary metric; nil: none
	AA          AAHistory    // of the host, other sweeps
}

// Cell gives the cell with a key; of a ladder as a whole, too.
func (s Sweep) Cell(key CellKey) (Cell, bool) {
	if i := slices.IndexFunc(s.Cells, func(c Cell) bool { return c.Key == key }); i >= 0 {
		return s.Cells[i], true
	}
	if i := slices.IndexFunc(s.Ladders, func(l Ladder) bool { return l.Cell.Key == key }); i >= 0 {
		return s.Ladders[i].Cell, true
	}
	return Cell{}, false
}

// Outcome is everything that one run gave: what the judge looks at and what is
// stored in one transaction.
type Outcome struct {
	Run           Run
	Plan          CellPlan
	Generator     Service
	Placement     Placement
	Host          Host
	Images        Images
	Observations  []Observation
	Series        []SeriesPoint
	Result        LoadResult
	Exits         map[string]Exit // services that ended before they were asked to
	Clocks        ClockCheck
	Confirmations []Confirmation
	Artifacts     []Artifact
	Import        *Import // the file that it was made of, where it was measured elsewhere; else nil
}

// Observed gives the value of a metric in the measured window.
func (o Outcome) Observed(metric string) (float64, bool) { return Observed(o.Observations, metric) }

// Observed gives the value of a metric in the measured window.
func (r RunRecord) Observed(metric string) (float64, bool) { return Observed(r.Observations, metric) }

// Observed looks up the value of a metric in the measured window.
func Observed(all []Observation, metric string) (float64, bool) {
	for _, x := range all {
		if x.Metric == metric && x.Phase == PhaseMeasure {
			return x.Value, true
		}
	}
	return 0, false
}

// Artifact is a file kept with a run: logs, answers.
type Artifact struct {
	Service string
	Name    string // log
	Body    []byte // as written; the store compresses it
	Full    int64  // length before capping
}
