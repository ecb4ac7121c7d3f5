package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// Calibrate looks at a sweep of identical cells (experiment.Matrix.Identical). Its rounds
// are cut into blocks of so many, at least 3, each of which goes through the same code as
// a sweep: disjoint pairs of copies, so that no comparison has a cell in common with
// another, and all copies against the first as a family. Rounds that fill no block are
// left out of both. Alarms are unadjusted p-values below 5%; family alarms are families
// with any verdict that claims a difference. Shows is for one comparison at the confidence
// of the settings, with the standard deviation of all rounds.
//
// It fails on another sweep, without a whole block, and where nothing can be tested, with
// the reason of the first comparison.
func Calibrate(s experiment.Sweep, set experiment.Settings, block int) (experiment.Calibration, error) {
	out := experiment.Calibration{Sweep: s.ID, Host: s.Host.ID(), Name: s.Name, Metric: set.Metric, Block: block}
	fail := func(err error) (experiment.Calibration, error) {
		return out, fmt.Errorf("calibrate by sweep %d: %w", s.ID, err)
	}
	if err := checkSettings(set); err != nil {
		return fail(err)
	}
	if block < fewestRounds {
		return fail(fmt.Errorf("blocks of %d rounds: %w", block, ErrBadParameter))
	}
	a, err := arrange(s)
	if err != nil {
		return fail(err)
	}
	if !ofCopies(s) || len(a.families) != 1 {
		return fail(fmt.Errorf("its cells are not copies of one another: %w", ErrBadParameter))
	}
	f := a.families[0]
	w := worker{set: set, sweep: s, units: a.units, zero: a.zero, dunnett: newDunnett()}
	c := calibrating{o: Options{Metric: w.metric(set.Metric), Confidence: set.Confidence, MinimumEffect: set.MinimumEffect}, dunnett: w.dunnett}
	out.Scale = c.o.Metric.Scale
	for _, cell := range f.cells {
		c.copies = append(c.copies, cell.sample(c.o.Metric, true, set.ErrorRate))
	}
	out.Copies, out.Rounds, out.When = len(c.copies), len(f.stage.rounds), lastRun(s)
	for rounds := range slices.Chunk(f.stage.rounds, block) {
		if len(rounds) == block {
			c.look(rounds, &out)
		}
	}
	switch {
	case out.Rounds < block:
		return fail(fmt.Errorf("%d of the %d rounds of a block are done: %w", out.Rounds, block, ErrTooFew))
	case out.Comparisons == 0:
		return fail(fmt.Errorf("no two copies can be compared: %s", c.reason))
	}
	out.Limit = AAAlarm(out.Comparisons)
	out.SD = c.deviation()
	for _, n := range []int{3, 5, 10, 20, 30} {
		e, err := DetectableEffect(out.SD, n, detectPower, 1-set.Confidence)
		if err != nil {
			continue // without any variance
		}
		if !c.o.difference() {
			e = math.Expm1(e)
		}
		if v := number(e); v != nil {
			out.Shows = append(out.Shows, experiment.Shows{Rounds: n, Effect: *v})
		}
	}
	return out, nil
}

// ofCopies reports whether the cells of a sweep differ in nothing but their number.
func ofCopies(s experiment.Sweep) bool {
	varied := 0
	for _, c := range s.Cells {
		if c.Role == experiment.RoleBaseline {
			continue
		}
		if len(c.Off) != 1 || c.Off[0].Factor != experiment.CopyFactor {
			return false
		}
		varied++
	}
	return varied > 0
}

func lastRun(s experiment.Sweep) (last time.Time) {
	for _, r := range s.Runs {
		if r.Ended.After(last) {
			last = r.Ended
		}
	}
	if last.IsZero() {
		return s.Began
	}
	return last
}

// calibrating is a calibration under way.
type calibrating struct {
	o       Options
	dunnett *dunnett
	copies  []Sample
	reason  string // why the first comparison that is not tested is not
}

// look compares the copies over some rounds.
func (c *calibrating) look(rounds []int, out *experiment.Calibration) {
	within := make([]Sample, len(c.copies))
	for i, s := range c.copies {
		within[i] = s.within(rounds)
	}
	for i := 0; i+1 < len(within); i += 2 {
		row := Compare(within[i], within[i+1], c.o)
		if row.Low == nil {
			c.reason = cmp.Or(c.reason, row.Reason)
			continue
		}
		out.Comparisons++
		if *row.P < AALevel {
			out.Alarms++
		}
	}
	claims, tested := false, false
	for _, row := range c.dunnett.compareFamily(within[0], within[1:], c.o).Comparisons {
		tested = tested || row.Low != nil
		switch row.Verdict {
		case experiment.VerdictBetter, experiment.VerdictWorse, experiment.VerdictHigher, experiment.VerdictLower:
			claims = true
		default:
		}
	}
	if tested {
		out.Families++
	}
	if claims {
		out.FamilyAlarms++
	}
}

// deviation is the standard deviation of a round's effect, pooled over the pairs.
func (c *calibrating) deviation() float64 {
	var squares, df float64
	o := c.o
	o.paired = true
	for i := 0; i+1 < len(c.copies); i += 2 {
		k := newContrast(c.copies[i], c.copies[i+1], o)
		if n := float64(len(k.effects)); k.known && n > 1 {
			squares, df = squares+(n-1)*stat.Variance(k.effects, nil), df+n-1
		}
	}
	if df == 0 {
		return 0
	}
	return math.Sqrt(squares / df)
}

// The true rate of alarms that a calibration is to notice, and the chance to do so.
const (
	DetectRate  = 0.10
	detectPower = 0.80
)

// DetectChance is the chance that so many independent comparisons give the alarm where the
// true rate is DetectRate: twice what it should be.
func DetectChance(comparisons int) float64 {
	if comparisons < 1 {
		return 0
	}
	return alarmChance(AAAlarm(comparisons), comparisons, DetectRate)
}

// ComparisonsToDetect is the smallest number of comparisons that do so with a chance of
// 80%.
func ComparisonsToDetect() int {
	n := 1
	for DetectChance(n) < detectPower {
		n++
	}
	return n
}
