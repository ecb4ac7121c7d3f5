package analysis

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// The planned power is that of the code that judges: as measured over many families of
// equal noise. Standard errors are below 1.6 points; below 10 rounds the plan is an
// approximation.
func TestPlannedPower(t *testing.T) {
	const families, noise, effect, k = 1000, 0.02, 0.05, 8
	p := Planning{Comparisons: k, SD: noise * math.Sqrt2, Pooled: noise * math.Sqrt2, Alpha: 0.05}
	o := Options{Metric: experiment.Metric{Scale: experiment.ScaleRatio, Better: experiment.HigherIsBetter}, Confidence: 0.95, MinimumEffect: 0.03}
	for n, within := range map[int]float64{3: 0.06, 5: 0.04, 8: 0.03, 10: 0.03} {
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		d, found := newDunnett(), 0
		for range families {
			cells := make([]Sample, k+1)
			for i := range cells {
				cells[i].Cell = experiment.CellKey(rune('a' + i))
				for r := range n {
					cells[i].Rounds = append(cells[i].Rounds, r+1)
					v := noise * rng.NormFloat64()
					if i == 1 {
						v += math.Log1p(effect)
					}
					cells[i].Values = append(cells[i].Values, math.Exp(v))
				}
			}
			if c := d.compareFamily(cells[0], cells[1:], o).Comparisons[0]; *c.Low > 1 {
				found++
			}
		}
		got, want := p.Power(math.Log1p(effect), n), float64(found)/families
		if math.Abs(got-want) > within {
			t.Errorf("n=%d: planned %.3f, measured %.3f", n, got, want)
		}
	}
}

// What is planned agrees with itself: the rounds for a power have it, one less has not,
// and what they detect is the effect.
func TestPlanningAgrees(t *testing.T) {
	for _, sd := range []float64{0.004, 0.01, 0.03, 0.08} {
		for _, pooled := range []float64{0, sd, 2 * sd} {
			p := Planning{Comparisons: 6, SD: sd, Pooled: pooled, Alpha: 0.05}
			effect := math.Log1p(0.03)
			n, err := p.Rounds(effect, 0.8)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Power(effect, n); got < 0.8 {
				t.Errorf("sd %v, pooled %v: %d rounds have a power of %v", sd, pooled, n, got)
			}
			if n > fewestRounds && n != ownRounds {
				if got := p.Power(effect, n-1); got >= 0.8 {
					t.Errorf("sd %v, pooled %v: %d rounds have a power of %v already", sd, pooled, n-1, got)
				}
			}
			for _, n := range []int{3, 5, 12} {
				e, err := p.Detectable(n, 0.8)
				if got := p.Power(e, n); err != nil || math.Abs(got-0.8) > 1e-6 {
					t.Errorf("sd %v, pooled %v: %d rounds detect %v, with a power of %v, %v", sd, pooled, n, e, got, err)
				}
			}
			if _, err := p.RoundsFor(effect); err != nil {
				t.Error(err)
			}
		}
	}
	p := Planning{Comparisons: 6, SD: 5, Alpha: 0.05}
	if _, err := p.Rounds(0.001, 0.8); !errors.Is(err, ErrOutOfReach) {
		t.Errorf("got %v", err)
	}
	if _, err := p.RoundsFor(0.001); !errors.Is(err, ErrOutOfReach) {
		t.Errorf("got %v", err)
	}
}

// A pilot gives the spread of the rounds' log ratios, and says where there is none.
func TestSpreads(t *testing.T) {
	s := sweepOf(5, "base ooooo", "control ooooo", "full ooooo", "part oo.oo", "few oo...", "gone xxxxx")
	m, all, err := Spreads(s, defaults())
	if err != nil || len(all) != 4 || m.Scale != experiment.ScaleRatio {
		t.Fatalf("%d spreads, %v", len(all), err)
	}
	var d []float64
	for r := range 5 {
		d = append(d, math.Log(noise(2, r)/noise(0, r)))
	}
	sd := stat.StdDev(d, nil)
	upper, _ := UpperSD(sd, 4, 0.8)
	full := all[0]
	if full.Cell.Level != "full" || full.N != 5 || math.Abs(full.SD-sd) > 1e-12 || math.Abs(full.Upper-upper) > 1e-12 || full.Pooled < full.SD {
		t.Errorf("got %+v, want sd %v and its limit %v", full, sd, upper)
	}
	if part := all[1]; part.N != 4 || part.Reason != "" || part.Pooled != full.Pooled {
		t.Errorf("got %+v", part)
	}
	for _, one := range all[2:] {
		if one.Reason == "" || one.SD != 0 {
			t.Errorf("got %+v, want a reason", one)
		}
	}
	set := defaults()
	set.Confidence = 2
	if _, _, err := Spreads(s, set); !errors.Is(err, ErrBadParameter) {
		t.Errorf("got %v", err)
	}
}

// Noise so large that no number of rounds would do is said to be out of reach, for the
// cells that are pooled below 10 rounds as for those that stand alone.
func TestWhatIsOutOfReachHasNoRounds(t *testing.T) {
	for _, pooled := range []float64{0, 5} {
		p := Planning{Comparisons: 8, SD: 5, Pooled: pooled, Alpha: 0.05}
		if n, err := p.Rounds(math.Log1p(0.03), 0.8); n != 0 || !errors.Is(err, ErrOutOfReach) {
			t.Errorf("pooled %v: %d rounds, %v; want none, out of reach", pooled, n, err)
		}
		if n, err := p.RoundsFor(math.Log1p(0.03)); n != 0 || !errors.Is(err, ErrOutOfReach) {
			t.Errorf("pooled %v: %d rounds for the width, %v; want none, out of reach", pooled, n, err)
		}
	}
}

func TestOneAlarmOfOneIsTooMany(t *testing.T) {
	for comparisons, want := range map[int]int{1: 1, 2: 2, 100: 10, 200: 16} {
		if got := AAAlarm(comparisons); got != want {
			t.Errorf("of %d comparisons %d alarms are too many, want %d", comparisons, got, want)
		}
	}
}
