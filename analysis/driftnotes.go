package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// What goes with the order of measuring is looked for from so many rounds on, each
// test at this level.
const (
	driftFrom  = 6
	driftLevel = 0.01
)

// noteDrift notes, for the primary metric, what goes with the order in which runs were
// made instead of with their cells: over the rounds, in each cell and in the mean of all
// cells that have every round, a trend (Mann-Kendall, Sen), a change of level (Pettitt)
// and dependence between neighbours (lag-1 autocorrelation); and inside the rounds, the
// place. These are remarks on the experiment and change no verdict: what is compared
// round by round survives drift, the values of a cell alone do not.
func (w *worker) noteDrift(families []*family) {
	byStage := map[*stage]*drift{}
	for _, f := range families {
		if !f.stage.paired || len(f.stage.rounds) < driftFrom {
			continue
		}
		d := byStage[f.stage]
		if d == nil {
			d = &drift{w: w, stage: f.stage, metric: w.metric(w.set.Metric), order: executed(f.stage)}
			byStage[f.stage] = d
		}
		for _, c := range f.cells {
			d.add(c)
		}
	}
	for _, f := range families {
		if d := byStage[f.stage]; d != nil {
			d.overRounds()
			d.insideRounds()
			delete(byStage, f.stage)
		}
	}
}

// drift looks at one stage.
type drift struct {
	w       *worker
	stage   *stage
	metric  experiment.Metric
	order   []int // rounds as executed
	courses []course
}

// course is the values of a cell on the working scale, in the order of measuring.
type course struct {
	cell   experiment.Cell
	values []float64
	rounds []int
	seqs   []int // place of the run in the order of the sweep; 0 if that is not known
}

// executed gives the rounds of a stage in the order in which they began, which is not
// that of their numbers where one was made again.
func executed(st *stage) []int {
	first := map[int]int{}
	for _, c := range st.cells {
		for _, r := range c.counting {
			if at, seen := first[r.round]; !seen || r.seq < at {
				first[r.round] = r.seq
			}
		}
	}
	order := slices.Clone(st.rounds)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
	return order
}

// add takes the course of a cell, unless its values are not to be tested.
func (d *drift) add(c *cellRuns) {
	sample := c.sample(d.metric, true, d.w.set.ErrorRate)
	ratio := d.metric.Scale != experiment.ScaleDifference
	check := checkFinite
	if ratio {
		check = checkPositive
	}
	if sample.Unfit != "" || c.silent || check(sample.Values) != nil {
		return
	}
	own := course{cell: c.cell}
	for _, round := range d.order {
		i, ok := slices.BinarySearch(sample.Rounds, round)
		if !ok {
			continue
		}
		own.values, own.rounds = append(own.values, sample.Values[i]), append(own.rounds, round)
		run := slices.IndexFunc(c.counting, func(r countingRun) bool { return r.round == round })
		own.seqs = append(own.seqs, c.counting[run].seq)
	}
	if ratio {
		own.values = logs(own.values)
	}
	d.courses = append(d.courses, own)
}

// whole gives the courses that have a value in every round.
func (d *drift) whole() []course {
	return slices.DeleteFunc(slices.Clone(d.courses), func(c course) bool { return len(c.values) < len(d.order) })
}

// mostNamed is how many cells a note names that go with the mean.
const mostNamed = 3

// overRounds notes what goes with the rounds: the mean of the cells first, and of the
// cells those that do more than go with it.
func (d *drift) overRounds() {
	means := d.means()
	all := d.look(means, d.order, "")
	var with []string
	for _, c := range d.courses {
		text := d.look(c.values, c.rounds, c.cell.Key)
		if text == "" {
			continue
		}
		if all != "" {
			own := slices.Clone(c.values)
			for i, round := range c.rounds {
				own[i] -= means[slices.Index(d.order, round)]
			}
			if d.look(own, c.rounds, c.cell.Key) == "" {
				with = append(with, c.cell.Label())
				continue
			}
		}
		d.note(c.cell.Key, c.cell.Label()+": "+text+"; up to three cells in a hundred show as much by chance")
	}
	if all == "" {
		return
	}
	all = "mean of all cells: " + all
	switch n := len(with); {
	case n > mostNamed:
		all += fmt.Sprintf("; it shows in %d of %d cells", n, len(d.courses))
	case n > 0:
		all += "; it shows in " + strings.Join(with, ", ")
	}
	d.note("", all)
}

// means gives the mean over the cells that have every round; none if there are not two.
func (d *drift) means() []float64 {
	whole := d.whole()
	if len(whole) < 2 {
		return nil
	}
	means := make([]float64, len(d.order))
	for _, c := range whole {
		for i, v := range c.values {
			means[i] += v / float64(len(whole))
		}
	}
	return means
}

func (d *drift) note(cell experiment.CellKey, text string) {
	if d.stage.name != experiment.MainStage {
		text = "stage " + d.stage.name + ", " + text
	}
	d.w.note(NoteOrderDrift, cell, d.metric.Name, "%s", text)
}

// look tests values in executed order and says what is found.
func (d *drift) look(values []float64, rounds []int, cell experiment.CellKey) string {
	if len(values) < driftFrom {
		return ""
	}
	var found []string
	if t, err := MannKendall(values); err == nil && !t.AllTied {
		if p := t.P(); p < driftLevel {
			found = append(found, fmt.Sprintf("%s by %s a round (Mann-Kendall p = %.2g)", verb(t.Slope), d.amount(t.Slope), p))
		}
	}
	rng := Seeded(d.w.sweep.Seed, d.metric.Name, cell)
	ranks, _ := doubledRanks(values)
	if mayBeRare(ranks, func(r []int) float64 { k, _ := mostChanged(r); return float64(k) }, rng) {
		if c, err := Pettitt(values, rng); err == nil && c.P < driftLevel {
			shift := stat.Mean(values[c.After:], nil) - stat.Mean(values[:c.After], nil)
			found = append(found, fmt.Sprintf("%s by %s at round %d (Pettitt p = %.2g)", verb(shift), d.amount(shift), rounds[c.After], c.P))
		}
	}
	mean := stat.Mean(values, nil)
	neighbours := func(y []float64) float64 {
		var sum float64
		for i, v := range y[1:] {
			sum += (v - mean) * (y[i] - mean)
		}
		return sum
	}
	if mayBeRare(values, neighbours, rng) {
		if a, err := Lag1(values, rng); err == nil && a.P() < driftLevel {
			found = append(found, fmt.Sprintf("depends on the round before (lag-1 autocorrelation %.2g, p = %.2g)", a.R1, a.P()))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return d.metric.Name + " " + strings.Join(found, ", ")
}

func verb(change float64) string {
	if change < 0 {
		return "falls"
	}
	return "rises"
}

// amount prints the size of a change on the working scale.
func (d *drift) amount(change float64) string {
	switch {
	case d.metric.Scale != experiment.ScaleDifference:
		return fmt.Sprintf("%.2g%%", 100*math.Abs(math.Expm1(change)))
	case d.metric.Unit == experiment.UnitRatio:
		return fmt.Sprintf("%.2g points", 100*math.Abs(change))
	default:
		return strings.TrimSpace(fmt.Sprintf("%.3g %s", math.Abs(change), d.metric.Unit))
	}
}

// Screening for a p below driftLevel. That as many orders of the first few drawn as
// the line screenBase + screenRise * drawn allows are as far out then has a chance below
// 1e-11.
const (
	screenOrders = 999
	screenBase   = 15
	screenRise   = 0.025
)

// mayBeRare reports whether a permutation test is worth its time: few of some orders
// drawn give a statistic as large as the one seen, or few one as small.
func mayBeRare[T any](x []T, statistic func([]T) float64, rng *rand.Rand) bool {
	seen := statistic(x)
	y := slices.Clone(x)
	above, below := 0, 0
	for drawn := range screenOrders {
		rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		s := statistic(y)
		if s >= seen {
			above++
		}
		if s <= seen {
			below++
		}
		if float64(min(above, below)) > screenBase+screenRise*float64(drawn) {
			return false
		}
	}
	return true
}

// insideRounds notes whether values go with the place of a run in its round. Places
// were drawn, so under no effect all orders of a round are as likely: the sum of value
// by place has mean 0 and a known variance in each round, and over the rounds is nearly
// normal (Hoeffding 1951). Cells without a value in each round are left out.
func (d *drift) insideRounds() {
	whole := d.whole()
	if len(whole) < 2 || slices.ContainsFunc(whole, func(c course) bool { return slices.Contains(c.seqs, 0) }) {
		return
	}
	k, rounds := float64(len(whole)), float64(len(d.order))
	levels, usual := make([]float64, len(whole)), make([]float64, len(whole)) // of each cell, value and place
	for i, c := range whole {
		levels[i] = stat.Mean(c.values, nil)
	}
	var sum, variance, far float64
	for r := range d.order {
		off, seqs := make([]float64, len(whole)), make([]float64, len(whole))
		for i, c := range whole {
			off[i], seqs[i] = c.values[r]-levels[i], float64(c.seqs[r])
		}
		twice, _ := doubledRanks(seqs)
		places := make([]float64, len(whole))
		for i, rank := range twice {
			places[i] = float64(rank) / 2
			usual[i] += places[i] / rounds
		}
		spread := (k - 1) * stat.Variance(places, nil)
		sum += (k - 1) * stat.Covariance(off, places, nil)
		variance += stat.Variance(off, nil) * spread
		far += spread
	}
	if p := normalTwoSided(sum / math.Sqrt(variance)); p < driftLevel { // NaN without variance
		slope := sum / (far - rounds*(k-1)*stat.Variance(usual, nil))
		d.note("", fmt.Sprintf("inside the rounds %s %s by %s from one run to the next (p = %.2g)", d.metric.Name, verb(slope), d.amount(slope), p))
	}
}
