package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestPacerAt(t *testing.T) {
	const ms = time.Millisecond
	tests := map[string]struct {
		pacer Pacer
		n     float64
		want  time.Duration
	}{
		"the first arrival comes at once":                    {Pacer{Rate: 1000}, 0, 0},
		"the second a period later":                          {Pacer{Rate: 1000}, 1, ms},
		"a period that is no whole number of nanoseconds":    {Pacer{Rate: 3}, 1, 333_333_333},
		"errors of rounding do not add up":                   {Pacer{Rate: 3}, 3_000_000, 1_000_000 * time.Second},
		"less than one arrival a second":                     {Pacer{Rate: 0.5}, 3, 6 * time.Second},
		"the ramp begins with an arrival":                    {Pacer{Rate: 1000, Ramp: 2 * time.Second}, 0, 0},
		"a quarter of the ramp's arrivals by its half":       {Pacer{Rate: 1000, Ramp: 2 * time.Second}, 250, time.Second},
		"half of rate times ramp by its end":                 {Pacer{Rate: 1000, Ramp: 2 * time.Second}, 1000, 2 * time.Second},
		"steady after the ramp":                              {Pacer{Rate: 1000, Ramp: 2 * time.Second}, 1001, 2001 * ms},
		"a ramp shorter than a period delays by half of it":  {Pacer{Rate: 1, Ramp: 100 * ms}, 1, 1050 * ms},
		"from a rate to the same nothing moves":              {Pacer{Rate: 100, Ramp: time.Second, From: 100}, 50, 500 * ms},
		"from 100 to 300 in a second 200 arrive":             {Pacer{Rate: 300, Ramp: time.Second, From: 100}, 200, time.Second},
		"of them 75 in the first half":                       {Pacer{Rate: 300, Ramp: time.Second, From: 100}, 75, 500 * ms},
		"and then 300 a second":                              {Pacer{Rate: 300, Ramp: time.Second, From: 100}, 500, 2 * time.Second},
		"from 300 to 100 they are 125 in the first half":     {Pacer{Rate: 100, Ramp: time.Second, From: 300}, 125, 500 * ms},
		"and then 100 a second, after a fall":                {Pacer{Rate: 100, Ramp: time.Second, From: 300}, 300, 2 * time.Second},
		"a load that ends has the last half of its arrivals": {Pacer{Ramp: time.Second, From: 100}, 50, time.Second},
		"and none after that":                                {Pacer{Ramp: time.Second, From: 100}, 50.5, never},
		"between two constant arrivals, as Poisson needs":    {Pacer{Rate: 1000}, 0.25, 250 * time.Microsecond},
		"what takes longer than time never comes":            {Pacer{Rate: 1e-9}, 1e9, never},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.pacer.At(tt.n); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Arrivals follow one another, and their number by any time is that of the
// formula.
func TestPacerKeepsToItsFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := Pacer{Rate: math.Exp(rng.Float64()*12 - 2), Ramp: time.Duration(rng.Int64N(int64(10 * time.Second)))}
		if rng.IntN(2) == 0 {
			p.From = math.Exp(rng.Float64()*12 - 2)
		}
		last := time.Duration(-1)
		for k := range int64(2000) {
			at := p.At(float64(k))
			if at < last {
				t.Fatalf("%+v: arrival %d at %v comes before the one at %v", p, k, at, last)
			}
			last = at
			s, ramp := at.Seconds(), p.Ramp.Seconds()
			due := (p.From+p.Rate)*ramp/2 + p.Rate*(s-ramp)
			if s <= ramp && ramp > 0 {
				due = p.From*s + (p.Rate-p.From)*s*s/(2*ramp)
			}
			if math.Abs(due-float64(k)) > 1e-3 {
				t.Fatalf("%+v: by the time of arrival %d, %g are due", p, k, due)
			}
		}
	}
}

func TestUserStart(t *testing.T) {
	var got []time.Duration
	for i := range 4 {
		got = append(got, UserStart(i, 4, 2*time.Second))
	}
	for i, want := range []time.Duration{0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
		if got[i] != want {
			t.Errorf("user %d starts at %v, want %v", i, got[i], want)
		}
	}
}

func BenchmarkPacer(b *testing.B) {
	p := Pacer{Rate: 12345, Ramp: time.Second}
	var k int64
	for b.Loop() {
		p.At(float64(k))
		k++
	}
}

// Arrivals that are overdue because the generator was held up are sent at twice the rate
// of their schedule until it has caught up, each once and none too early.
func TestOverdueArrivalsAreSpread(t *testing.T) {
	const gap = 200 * time.Microsecond
	run := func(s spread, heldUpTill time.Duration) (sent []time.Duration) {
		now := time.Duration(0)
		for i := range 1000 {
			intended := time.Duration(i) * gap
			now = max(now, intended) // as the alarm waits
			if i == 100 {
				now = max(now, heldUpTill)
			}
			now = max(now, s.due(intended, now)) // and again
			sent = append(sent, now)
			now += 5 * time.Microsecond // to send one
		}
		return sent
	}
	t.Run("after 50 ms", func(t *testing.T) {
		sent := run(spread{}, 70*ms)
		bunched, caught := 0, 0
		for i := 1; i < len(sent); i++ {
			if sent[i] < time.Duration(i)*gap {
				t.Fatalf("arrival %d is sent at %v, before its time", i, sent[i])
			}
			if sent[i]-sent[i-1] < gap/3 {
				bunched++
			}
			if caught == 0 && i > 100 && sent[i]-time.Duration(i)*gap <= heldUp {
				caught = i
			}
		}
		// Half a gap is won back with each: 50 ms take 500 of them, but for the last one.
		if caught < 585 || caught > 605 || bunched > 10 {
			t.Errorf("it has caught up at arrival %d, want about 590; %d were bunched", caught, bunched)
		}
	})
	t.Run("at once, where that is asked for", func(t *testing.T) {
		sent := run(spread{burst: true}, 70*ms)
		if sent[300] > 72*ms {
			t.Errorf("arrival 300 is sent at %v", sent[300])
		}
	})
	t.Run("not after the jitter of a timer", func(t *testing.T) {
		sent := run(spread{}, 100*gap+heldUp)
		if sent[101] > 100*gap+heldUp+10*time.Microsecond {
			t.Errorf("arrival 101 is sent at %v", sent[101])
		}
	})
}
