package analysis

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// dunnett computes the distribution of the largest of k absolute t statistics
// that share a baseline and a variance estimate (Dunnett 1955; correlation 1/2).
// Its critical values are kept for the length of one analysis. It is not safe for
// use by several goroutines.
type dunnett struct {
	z, zWeight []float64 // rule over the baseline's normal deviate, density included
	s, sWeight []float64 // rule on [0, 1], stretched over the standard deviation
	critical   map[dunnettKey]float64
	students   map[[2]float64]float64
}

type dunnettKey struct {
	k, df      int
	confidence float64
}

// Sizes of the rules. The integrands are analytic and decay like a normal
// density, so the error falls geometrically; against 300 points it is below 1e-6
// of any chance above 1e-12, for up to 100 comparisons and 1 to 5000 degrees of
// freedom.
const (
	dunnettDeviates   = 32
	dunnettDeviations = 44
	dunnettReach      = 8.0 // standard deviations beyond which a normal is nothing
)

func newDunnett() *dunnett {
	return newDunnettOf(dunnettDeviates, dunnettDeviations)
}

func newDunnettOf(deviates, deviations int) *dunnett {
	d := &dunnett{critical: make(map[dunnettKey]float64), students: make(map[[2]float64]float64)}
	d.z, d.zWeight = make([]float64, deviates), make([]float64, deviates)
	d.s, d.sWeight = make([]float64, deviations), make([]float64, deviations)
	quad.Legendre{}.FixedLocations(d.z, d.zWeight, 0, dunnettReach)
	for i, z := range d.z { // the integrand is even in z: half the range, doubled
		d.zWeight[i] *= 2 * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	}
	quad.Legendre{}.FixedLocations(d.s, d.sWeight, 0, 1)
	return d
}

// tail gives the chance that the largest of k absolute statistics exceeds t:
//
//	integral over s of f(s) * integral over z of phi(z) * (1 - (1-u)^k)
//	u = Phi(-z - a) + Phi(z - a),  a = sqrt(2) t s
//
// where z is the baseline's deviate and s the estimated standard deviation over
// the true one, a chi variable with df degrees of freedom over sqrt(df). It is
// formed as a tail, so that small chances keep their digits.
func (d *dunnett) tail(t float64, k, df int) float64 {
	t = math.Abs(t)
	switch {
	case k == 1:
		return tTwoSided(t, float64(df))
	case t == 0:
		return 1
	}
	v := float64(df)
	lnGamma, _ := math.Lgamma(v / 2)
	scale := math.Ln2 + v/2*math.Log(v/2) - lnGamma
	spread := dunnettReach / math.Sqrt(2*v)
	lo, hi := max(0, 1-spread), min(1+spread, dunnettReach/t)
	if hi <= lo {
		return 0 // below the reach of the rule: less than 1e-14
	}
	var sum float64
	for i, x := range d.s {
		s := lo + (hi-lo)*x
		density := math.Exp(scale + (v-1)*math.Log(s) - v*s*s/2)
		sum += d.sWeight[i] * density * d.given(math.Sqrt2*t*s, float64(k))
	}
	sum *= hi - lo
	return min(1, sum)
}

// given is the inner integral: the chance for a known standard deviation.
func (d *dunnett) given(a, k float64) float64 {
	var sum float64
	for i, z := range d.z {
		u := (math.Erfc((z+a)/math.Sqrt2) + math.Erfc((a-z)/math.Sqrt2)) / 2
		sum -= d.zWeight[i] * math.Expm1(k*math.Log1p(-u))
	}
	return sum
}

// student is tQuantile, kept likewise.
func (d *dunnett) student(p, df float64) float64 {
	key := [2]float64{p, df}
	t, ok := d.students[key]
	if !ok {
		t = tQuantile(p, df)
		d.students[key] = t
	}
	return t
}

// quantile gives the two-sided critical value: the t that the largest of k
// absolute statistics exceeds with chance 1-confidence.
func (d *dunnett) quantile(confidence float64, k, df int) float64 {
	if k == 1 {
		return tQuantile(twoSided(confidence), float64(df))
	}
	key := dunnettKey{k, df, confidence}
	if c, ok := d.critical[key]; ok {
		return c
	}
	alpha := 1 - confidence
	// One comparison alone bounds it from below, Bonferroni from above.
	lo := tQuantile(1-alpha/2, float64(df))
	hi := tQuantile(1-alpha/(2*float64(k)), float64(df))
	c := root(lo, hi, func(t float64) float64 { return math.Log(d.tail(t, k, df) / alpha) })
	d.critical[key] = c
	return c
}

// root finds where the falling function f crosses 0 between lo and hi, by regula
// falsi in the form of Illinois (Dowell and Jarratt 1971).
func root(lo, hi float64, f func(float64) float64) float64 {
	flo, fhi := f(lo), f(hi)
	if flo <= 0 {
		return lo
	}
	if fhi >= 0 {
		return hi
	}
	x, side := lo, 0
	for range 60 {
		x = (lo*fhi - hi*flo) / (fhi - flo)
		fx := f(x)
		switch {
		case math.Abs(fx) < 1e-11 || hi-lo < 1e-12*hi:
			return x
		case fx > 0:
			lo, flo = x, fx
			if side > 0 {
				fhi /= 2
			}
			side = 1
		default:
			hi, fhi = x, fx
			if side < 0 {
				flo /= 2
			}
			side = -1
		}
	}
	return x
}
