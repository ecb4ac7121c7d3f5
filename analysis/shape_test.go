package analysis

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normals(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := make([]float64, n)
	for i := range out {
		out[i] = 1000 + 10*rng.NormFloat64()
	}
	return out
}

func TestShapeErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := func(f func(y []float64) error) map[string]error {
		return map[string]error{
			"nothing": f(nil), "NaN": f([]float64{1, 2, nan, 4, 5, 6, 7}), "infinity": f([]float64{1, 2, inf, 4, 5, 6, 7}), "two values": f([]float64{1, 2}),
		}
	}
	want := map[string]error{"nothing": ErrNoData, "NaN": ErrNotFinite, "infinity": ErrNotFinite, "two values": ErrTooFew}
	for name, f := range map[string]func(y []float64) error{
		"MannKendall": func(y []float64) error { _, err := MannKendall(y); return err },
		"Lag1":        func(y []float64) error { _, err := Lag1(y, nil); return err },
		"Pettitt":     func(y []float64) error { _, err := Pettitt(y, nil); return err },
		"Page":        func(y []float64) error { _, err := Page([][]float64{y, y, y}); return err },
		"Truncate":    func(y []float64) error { _, err := Truncate(y); return err },
		"BrokenStick": func(y []float64) error { _, err := BrokenStick(y, y); return err },
		"FitUSL":      func(y []float64) error { _, err := FitUSL(y, y); return err },
	} {
		for input, err := range bad(f) {
			if !errors.Is(err, want[input]) {
				t.Errorf("%s of %s: %v, want %v", name, input, err, want[input])
			}
		}
	}
	for name, err := range map[string]error{
		"Page":        second(Page([][]float64{{1, 2, 3}, {1, 2}})),
		"Isotonic":    second(Isotonic([]float64{1, 2}, []float64{1})),
		"BrokenStick": second(BrokenStick([]float64{1, 2, 3, 4}, []float64{1})),
		"FitUSL":      second(FitUSL([]float64{1, 2, 3, 4}, []float64{1})),
		"Factorial":   second(FactorialPaired([]float64{1, 2}, []float64{1, 2}, []float64{1, 2}, []float64{1}, 0.95)),
	} {
		if !errors.Is(err, ErrLengthMismatch) {
			t.Errorf("%s: %v, want %v", name, err, ErrLengthMismatch)
		}
	}
}

// Backwards, what rose falls with the same chance.
func TestTrendsMirror(t *testing.T) {
	for seed := range uint64(20) {
		y := normals(12, seed)
		back := slices.Clone(y)
		slices.Reverse(back)
		a, err1 := MannKendall(y)
		b, err2 := MannKendall(back)
		if err1 != nil || err2 != nil || a.S != -b.S || !near(a.P(), b.P()) || !near(a.Slope, -b.Slope) {
			t.Errorf("Mann-Kendall: %+v, backwards %+v", a, b)
		}
		var rows, mirrored [][]float64
		for i := range 3 {
			row := slices.Clone(y[4*i : 4*i+4])
			turned := slices.Clone(row)
			slices.Reverse(turned)
			rows, mirrored = append(rows, row), append(mirrored, turned)
		}
		p, err1 := Page(rows)
		q, err2 := Page(mirrored)
		if err1 != nil || err2 != nil || !p.Exact || !near(p.RisingP, q.FallingP) || !near(p.FallingP, q.RisingP) {
			t.Errorf("Page: %+v, mirrored %+v", p, q)
		}
		j, err1 := Jonckheere(rows)
		slices.Reverse(rows)
		k, err2 := Jonckheere(rows)
		if err1 != nil || err2 != nil || !near(j.RisingP, k.FallingP) || !near(j.FallingP, k.RisingP) {
			t.Errorf("Jonckheere: %+v, mirrored %+v", j, k)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }

// The distribution that is convolved is that of all orders, ties included.
func TestPageIsThatOfAllOrders(t *testing.T) {
	rounds := [][]float64{{3, 1, 1, 2}, {1, 2, 2, 2}}
	got, err := Page(rounds)
	if err != nil {
		t.Fatal(err)
	}
	var all, atLeast, atMost float64
	eachOrder(slices.Clone(rounds[0]), 4, func(a []float64) {
		eachOrder(slices.Clone(rounds[1]), 4, func(b []float64) {
			p, err := pageMoments([][]float64{a, b})
			if err != nil {
				t.Fatal(err)
			}
			all++
			atLeast += b2f(p.Statistic >= got.Statistic)
			atMost += b2f(p.Statistic <= got.Statistic)
		})
	})
	if !near(got.RisingP, atLeast/all) || !near(got.FallingP, atMost/all) {
		t.Errorf("%v and %v, want %v and %v", got.RisingP, got.FallingP, atLeast/all, atMost/all)
	}
}

// Sampled orders agree with all of them, and the same seed gives the same.
func TestSampledOrders(t *testing.T) {
	y := normals(9, 4) // one more than is enumerated
	drawn, err := Lag1(y, fixedChance())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Lag1(y, fixedChance())
	if err != nil || again != drawn {
		t.Errorf("%+v, and again %+v (%v)", drawn, again, err)
	}
	var all, atLeast float64
	squares := 0.0
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		squares += (v - mean) * (v - mean)
	}
	eachOrder(slices.Clone(y), len(y), func(x []float64) {
		all++
		sum := 0.0
		for i, v := range x[1:] {
			sum += (v - mean) * (x[i] - mean)
		}
		atLeast += b2f(sum/squares >= drawn.R1-1e-9)
	})
	if se := math.Sqrt(0.25 / sampledArrangements); math.Abs(drawn.PositiveP-atLeast/all) > 4*se {
		t.Errorf("p = %v drawn, %v of all", drawn.PositiveP, atLeast/all)
	}
	if all != 362880 {
		t.Errorf("%v orders of 9", all)
	}
}

func TestBrokenStickFindsTheBreak(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6}
	for _, at := range []float64{1.5, 2, 3.25, 4.9} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = 5 + 2*min(v, at) - 0.5*max(0, v-at)
		}
		s, err := BrokenStick(x, y)
		if err != nil || !near(s.Break, at) || !near(s.Before, 2) || !near(s.After, -0.5) || s.Squares > 1e-18 {
			t.Errorf("break at %v: %+v, %v", at, s, err)
		}
	}
}

// A fit is no worse than one without contention or coherency, and no step away from it is
// better.
func TestUSLIsTheLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		n := []float64{1, 2, 4, 8, 16, 32}
		x := make([]float64, len(n))
		truth := USL{Lambda: 1000, Sigma: 0.3 * rng.Float64(), Kappa: 0.01 * rng.Float64() * float64(rng.IntN(2))}
		for i := range n {
			x[i] = truth.At(n[i]) * math.Exp(0.2*rng.NormFloat64())
		}
		u, err := FitUSL(n, x)
		if err != nil {
			t.Fatal(err)
		}
		squares := func(u USL) float64 {
			var sum float64
			for i := range n {
				sum += (x[i] - u.At(n[i])) * (x[i] - u.At(n[i]))
			}
			return sum
		}
		least := squares(u) * (1 - 1e-9)
		for _, by := range []float64{-0.02, 0.02} {
			for name, other := range map[string]USL{
				"lambda": {Lambda: u.Lambda * (1 + by), Sigma: u.Sigma, Kappa: u.Kappa},
				"sigma":  {Lambda: u.Lambda, Sigma: max(0, u.Sigma+by/10), Kappa: u.Kappa},
				"kappa":  {Lambda: u.Lambda, Sigma: u.Sigma, Kappa: max(0, u.Kappa+by/100)},
				"line":   {Lambda: u.Lambda * (0.5 + rng.Float64())},
				"truth":  truth,
			} {
				if squares(other) < least {
					t.Errorf("%+v is better than %+v by %s", other, u, name)
				}
			}
		}
	}
}

// Whatever the values, a fit is finite and inside its bounds.
func FuzzFitUSL(f *testing.F) {
	f.Add(1.0, 2.0, 4.0, 8.0, 10.0, 19.0, 30.0, 31.0)
	f.Add(1.0, 2.0, 4.0, 8.0, 31.0, 30.0, 19.0, 10.0)
	f.Add(1e-300, 1.0, 1e8, 1e300, 1.0, 1.0, 1.0, 1.0)
	f.Add(1.0, 2.0, 3.0, 4.0, 1e-320, 1e300, 1e-300, 5.0)
	f.Add(64.0, 128.0, 256.0, 512.0, 7.0, 7.0, 7.0, 7.0)
	f.Fuzz(func(t *testing.T, a, b, c, d, p, q, r, s float64) {
		n, x := []float64{a, b, c, d}, []float64{p, q, r, s}
		u, err := FitUSL(n, x)
		if err != nil {
			return
		}
		if checkFinite([]float64{u.Lambda, u.Sigma, u.Kappa, u.LambdaSE, u.SigmaSE, u.KappaSE, u.Squares, u.R2}) != nil {
			t.Errorf("not finite: %+v", u)
		}
		if !(u.Lambda > 0) || u.Sigma < 0 || u.Kappa < 0 {
			t.Errorf("out of bounds: %+v", u)
		}
		if peak := u.Peak(); math.IsNaN(peak) {
			t.Errorf("peak %v of %+v", peak, u)
		}
	})
}

func FuzzBrokenStick(f *testing.F) {
	f.Add(1.0, 2.0, 4.0, 8.0, 16.0, 10.0, 19.0, 30.0, 31.0, 32.0)
	f.Add(1e-300, 1.0, 1e8, 1e300, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
	f.Fuzz(func(t *testing.T, a, b, c, d, e, p, q, r, s, u float64) {
		k, err := BrokenStick([]float64{a, b, c, d, e}, []float64{p, q, r, s, u})
		if err == nil && checkFinite([]float64{k.Break, k.Before, k.After, k.Squares, k.Straight}) != nil {
			t.Errorf("not finite: %+v", k)
		}
	})
}

func BenchmarkFitUSL(b *testing.B) {
	n := []float64{1, 18, 36, 72, 108, 144, 216}
	x := []float64{64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775, 1702.2}
	for b.Loop() {
		if _, err := FitUSL(n, x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	var rounds [][]float64
	for i := range 10 {
		rounds = append(rounds, normals(8, uint64(i)))
	}
	for b.Loop() {
		if _, err := Page(rounds); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBrokenStick(b *testing.B) {
	x, y := make([]float64, 120), normals(120, 1)
	for i := range x {
		x[i] = float64(i / 10)
	}
	for b.Loop() {
		if _, err := BrokenStick(x, y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLag1(b *testing.B) {
	y := normals(20, 1)
	for b.Loop() {
		if _, err := Lag1(y, fixedChance()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPettitt(b *testing.B) {
	y := normals(20, 1)
	for b.Loop() {
		if _, err := Pettitt(y, fixedChance()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResponses(b *testing.B) {
	s := doseSweep([]string{"1", "2", "4", "8", "16", "32", "64", "128"}, 10, func(v float64) float64 { return v / (1 + 0.05*(v-1)) })
	for b.Loop() {
		if _, err := New().Analyse(s, s.Settings); err != nil {
			b.Fatal(err)
		}
	}
}
