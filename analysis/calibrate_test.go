package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// copiesOf is a sweep of identical cells, whose noise has a standard deviation of sd on
// logs beside a level that the cells of a round share.
func copiesOf(t *testing.T, copies, rounds int, sd float64, seed uint64) experiment.Sweep {
	t.Helper()
	m, err := (&experiment.Matrix{Name: "m", Judge: defaults()}).Identical(copies)
	if err != nil {
		t.Fatal(err)
	}
	s := experiment.Sweep{ID: 7, Name: m.Name, Rounds: rounds, Settings: m.Judge, Factors: m.Factors, Cells: m.Cells()}
	rng := rand.New(rand.NewPCG(seed, 5))
	began := time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	for round := 1; round <= rounds; round++ {
		level := 0.08 * rng.NormFloat64()
		for _, c := range s.Cells {
			r := experiment.RunRecord{Run: experiment.Run{
				ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK, Ended: began.Add(time.Duration(len(s.Runs)) * time.Second),
			}}
			r.Observations = []experiment.Observation{observed("throughput", 1000*math.Exp(level+sd*rng.NormFloat64()))}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// Pairs have no cell in common, blocks no round: six copies over 23 rounds are three
// pairs in four blocks of five, and three rounds are left.
func TestCalibrateCounts(t *testing.T) {
	s := copiesOf(t, 6, 23, 0.02, 1)
	c, err := Calibrate(s, s.Settings, 5)
	if err != nil {
		t.Fatal(err)
	}
	if c.Copies != 6 || c.Rounds != 23 || c.Comparisons != 12 || c.Families != 4 || c.Limit != AAAlarm(12) || c.Block != 5 || c.Sweep != 7 || c.Metric != "throughput" || c.Host != s.Host.ID() {
		t.Errorf("%+v", c)
	}
	if want := s.Runs[len(s.Runs)-1].Ended; !c.When.Equal(want) {
		t.Errorf("made %v, want %v", c.When, want)
	}
	// The effect of a round is the difference of two cells.
	if want := 0.02 * math.Sqrt2; c.SD < 0.8*want || c.SD > 1.25*want {
		t.Errorf("deviation %v, want about %v", c.SD, want)
	}
	if len(c.Shows) != 5 {
		t.Fatalf("%d effects", len(c.Shows))
	}
	for i, x := range c.Shows {
		power, err := PowerOf(c.SD, math.Log1p(x.Effect), x.Rounds, 0.05)
		if err != nil || math.Abs(power-0.8) > 1e-6 {
			t.Errorf("%d rounds show %v with a chance of %v, %v", x.Rounds, x.Effect, power, err)
		}
		if i > 0 && x.Effect >= c.Shows[i-1].Effect {
			t.Errorf("%d rounds show no less than %d", x.Rounds, c.Shows[i-1].Rounds)
		}
	}
}

// Where nothing is wrong, one comparison in twenty is an alarm; where every copy has a
// level of its own in each block of rounds, nearly all are.
func TestCalibrateFindsAMethodThatCriesWolf(t *testing.T) {
	s := copiesOf(t, 20, 100, 0.02, 2)
	c, err := Calibrate(s, s.Settings, 5)
	if err != nil {
		t.Fatal(err)
	}
	if c.Comparisons != 200 || c.Limit != 16 || c.Alarms >= c.Limit || c.Families != 20 || c.FamilyAlarms > 3 {
		t.Errorf("identical cells: %+v", c)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	levels := map[experiment.CellKey]float64{}
	for _, x := range s.Cells {
		levels[x.Key] = math.Exp(0.1 * rng.NormFloat64())
	}
	for i := range s.Runs {
		s.Runs[i].Observations[0].Value *= levels[s.Runs[i].Cell]
	}
	if c, err = Calibrate(s, s.Settings, 5); err != nil || c.Alarms < 100 || c.Alarms < c.Limit || c.FamilyAlarms < 19 {
		t.Errorf("cells that differ: %+v, %v", c, err)
	}
}

func TestWhatCannotCalibrate(t *testing.T) {
	for name, c := range map[string]struct {
		sweep experiment.Sweep
		block int
		want  string
	}{
		"another sweep":        {sampleSweep(4, 5, []string{"throughput"}, 1), 5, "not copies of one another"},
		"too few rounds":       {copiesOf(t, 4, 4, 0.02, 1), 5, "4 of the 5 rounds of a block are done"},
		"blocks of two":        {copiesOf(t, 4, 4, 0.02, 1), 2, "blocks of 2 rounds"},
		"values without noise": {flat(copiesOf(t, 4, 5, 0.02, 1), 7), 5, "no two copies can be compared: AllTied"},
		"zeros":                {flat(copiesOf(t, 4, 5, 0.02, 1), 0), 5, "no two copies can be compared: ErrNonPositive"},
		"no number":            {flat(copiesOf(t, 4, 5, 0.02, 1), math.NaN()), 5, "no two copies can be compared: ErrNotFinite"},
		"nothing observed":     {unobserved(copiesOf(t, 4, 5, 0.02, 1)), 5, "no two copies can be compared: ErrNoData"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Calibrate(c.sweep, c.sweep.Settings, c.block); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func flat(s experiment.Sweep, v float64) experiment.Sweep {
	constant(&s, v)
	return s
}

func unobserved(s experiment.Sweep) experiment.Sweep {
	for i := range s.Runs {
		s.Runs[i].Observations = nil
	}
	return s
}

// A run that is missing costs its round, in its pair alone.
func TestCalibrateWithAGap(t *testing.T) {
	s := copiesOf(t, 4, 10, 0.02, 1)
	for i, r := range s.Runs {
		if r.Round <= 3 && r.Cell == s.Cells[3].Key {
			s.Runs[i].State = experiment.StateInvalid
		}
	}
	c, err := Calibrate(s, s.Settings, 5)
	if err != nil || c.Comparisons != 3 || c.Families != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestComparisonsToDetect(t *testing.T) {
	n := ComparisonsToDetect()
	if DetectChance(n) < 0.8 || DetectChance(n-1) >= 0.8 || n < 100 || n > 200 {
		t.Errorf("%d, with a chance of %v", n, DetectChance(n))
	}
	if at200 := DetectChance(200); math.Abs(at200-0.86) > 0.01 {
		t.Errorf("200 comparisons: %v", at200)
	}
	if DetectChance(0) != 0 {
		t.Error("none detect something")
	}
}

// The numbers of copies are no scale on which a metric rises or falls.
func TestCopiesAreNoResponse(t *testing.T) {
	s := copiesOf(t, 4, 5, 0.02, 1)
	r, err := New().Analyse(s, s.Settings)
	if err != nil || len(r.Responses) != 0 {
		t.Errorf("%v, %v", r.Responses, err)
	}
}
