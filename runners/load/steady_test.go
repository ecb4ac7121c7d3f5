package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestSteady(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	series := func(n int, f func(i int) float64) []float64 {
		var out []float64
		for i := range n {
			out = append(out, f(i))
		}
		return out
	}
	noise := func(level float64) float64 { return level * (1 + 0.1*rng.NormFloat64()) }
	rise := func(i int) float64 { return 1000 * (1 - math.Exp(-float64(i)/20)) } // within 5% of its level after 60 slices
	tests := map[string]struct {
		rates []float64
		want  bool
	}{
		"nothing yet":                             {nil, false},
		"49 slices at one level":                  {series(49, func(int) float64 { return 100 }), false},
		"50 slices at one level":                  {series(50, func(int) float64 { return 100 }), true},
		"noise around a level":                    {series(200, func(int) float64 { return noise(1000) }), true},
		"nothing succeeds":                        {series(200, func(int) float64 { return 0 }), false},
		"it rises evenly":                         {series(200, func(i int) float64 { return float64(i) }), false},
		"it rises evenly under noise":             {series(200, func(i int) float64 { return noise(100 + float64(i)) }), false},
		"it falls slowly, by a quarter":           {series(200, func(i int) float64 { return 1000 - 1.25*float64(i) }), false},
		"a rise that still goes on":               {series(60, rise), false},
		"a rise that is over for as long":         {series(200, func(i int) float64 { return min(10*float64(i), 900) }), true},
		"a rise that is over, under noise":        {series(200, func(i int) float64 { return noise(rise(i)) }), true},
		"a step up in the middle":                 {series(100, func(i int) float64 { return 100 + 100*float64(i/60) }), false},
		"a step up in the first third":            {series(150, func(i int) float64 { return 100 + 100*min(float64(i/40), 1) }), true},
		"a step of a tenth in the last 10 slices": {series(200, func(i int) float64 { return 1000 + 100*float64(i/190) }), false},
		"a dip in the last 10 slices":             {series(200, func(i int) float64 { return 1000 - 500*float64(i/190) }), false},
		"it swings around a level":                {series(200, func(i int) float64 { return 1000 + 100*math.Sin(float64(i)) }), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Steady(tt.rates); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// warming answers slowly at first, then fast: from a moment after its first request.
func warming(after, slow, fast time.Duration) *memory {
	var began time.Time
	return &memory{reply: func(n int) (time.Duration, string) {
		if n == 0 {
			began = time.Now()
		}
		if time.Since(began) < after {
			return slow, ok2
		}
		return fast, ok2
	}}
}

func steadyLoad() experiment.Load {
	return experiment.Load{
		Ramp: 500 * ms, Warmup: 2 * time.Second, Steady: 20 * time.Second, Measure: 7 * time.Second, Timeout: time.Second,
		Closed: &experiment.ClosedLoad{Users: 4},
	}
}

func TestWarmUpEndsWhenTheRateIsSteady(t *testing.T) {
	// Slow for 2.5 s, the ramp and 2 s of the warm-up, which must be as long again.
	bubble(t, steadyLoad(), warming(2500*ms, 20*ms, 10*ms), func(t *testing.T, r experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
		o := observed(t, r)
		warmup := o["warmup_seconds"]
		if o["warmup_steady"] != 1 || warmup < 4 || warmup > 4.8 {
			t.Errorf("steady %g after %g s, want 1 after 4 to 4.8 s", o["warmup_steady"], warmup)
		}
		began := 500*ms + time.Duration(warmup*float64(time.Second))
		want := map[experiment.Phase]time.Duration{
			experiment.PhaseRamp: 0, experiment.PhaseWarmup: 500 * ms, experiment.PhaseMeasure: began, experiment.PhaseDrain: began + 7*time.Second,
		}
		delete(phases, experiment.PhaseDone)
		if d := cmp.Diff(phases, want); d != "" {
			t.Errorf("phases (-got +want):\n%s", d)
		}
		if o["throughput"] != 400 || r.Window != 7*time.Second {
			t.Errorf("throughput %g in %v, want 400 in 7 s", o["throughput"], r.Window)
		}
		for _, p := range r.Series { // at_ms counts from the real begin of the window
			if start := -began.Milliseconds(); p.AtMS < start-60 || p.AtMS > 8000 {
				t.Errorf("a slice at %d ms; the load lasted from %d to 8000", p.AtMS, start)
			}
		}
	})
}

func TestWarmUpLastsAtLeastAndAtMostAsLongAsItShall(t *testing.T) {
	t.Run("steady from the start, and at least 4 s", func(t *testing.T) {
		l := steadyLoad()
		l.Warmup = 4 * time.Second
		bubble(t, l, constant(10*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			if o := observed(t, r); o["warmup_steady"] != 1 || o["warmup_seconds"] < 4 || o["warmup_seconds"] > 4.2 {
				t.Errorf("steady %g after %g s, want 1 after 4 s and the next slice", o["warmup_steady"], o["warmup_seconds"])
			}
		})
	})
	t.Run("never steady", func(t *testing.T) {
		l := steadyLoad()
		m := &memory{reply: func(n int) (time.Duration, string) { return 2*ms + 10*time.Microsecond*time.Duration(n), ok2 }}
		bubble(t, l, m, func(t *testing.T, r experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
			o := observed(t, r)
			if o["warmup_steady"] != 0 || o["warmup_seconds"] != 20 || phases[experiment.PhaseMeasure] != 20500*ms {
				t.Errorf("steady %g after %g s, want 0 after 20", o["warmup_steady"], o["warmup_seconds"])
			}
		})
	})
}

func TestFixedWorkEndsTheWindow(t *testing.T) {
	l := experiment.Load{Warmup: time.Second, Measure: time.Minute, Work: 1000, Timeout: time.Second, Closed: &experiment.ClosedLoad{Users: 4}}
	bubble(t, l, constant(30*ms), func(t *testing.T, r experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
		// 4 users, each 30 ms a request: the 1000th is done 250 turns after the window's
		// begin, in which the first turn ends 20 ms after it.
		want := 249*30*ms + 20*ms
		o := observed(t, r)
		if r.Window < want || r.Window > want+ms {
			t.Errorf("the window lasted %v, want %v", r.Window, want)
		}
		if o["work_missing"] != 0 || o["requests_done"] < 1000 || o["requests_done"] > 1003 {
			t.Errorf("%g done, %g missing", o["requests_done"], o["work_missing"])
		}
		if got := o["requests_done"] / o["throughput"]; math.Abs(got-r.Window.Seconds()) > 1e-9 {
			t.Errorf("throughput is by %g s, the window has %v", got, r.Window)
		}
		if got := phases[experiment.PhaseDrain] - phases[experiment.PhaseMeasure]; got != r.Window {
			t.Errorf("drain began %v after the window, which lasted %v", got, r.Window)
		}
		if done := phases[experiment.PhaseDone]; done > time.Second+r.Window+30*ms {
			t.Errorf("done at %v", done)
		}
	})
	t.Run("an arrival that is far off is not waited for", func(t *testing.T) {
		l := experiment.Load{Measure: time.Hour, Work: 1, Timeout: time.Second, Open: &experiment.OpenLoad{Rate: 0.001, InFlight: 1}}
		bubble(t, l, constant(30*ms), func(t *testing.T, _ experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
			if done := phases[experiment.PhaseDone]; done != 30*ms {
				t.Errorf("done at %v, want 30ms", done)
			}
		})
	})
	t.Run("what is not done in time is missing", func(t *testing.T) {
		l := l
		l.Measure = 3 * time.Second
		bubble(t, l, constant(30*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			if o := observed(t, r); o["work_missing"] != 600 || r.Window != 3*time.Second {
				t.Errorf("%g missing after %v, want 600 after 3 s", o["work_missing"], r.Window)
			}
		})
	})
}
