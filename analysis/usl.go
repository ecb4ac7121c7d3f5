package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// uslLevels is the least number of different levels that the law is fitted to.
const uslLevels = 4

// uslSteps bounds the search for the least squares.
const uslSteps = 200

// USL is a fit of the Universal Scalability Law (Gunther 2007):
//
//	throughput = lambda*n / (1 + sigma*(n-1) + kappa*n*(n-1))
type USL struct {
	Lambda, Sigma, Kappa       float64 // lambda above 0, the others at least 0
	LambdaSE, SigmaSE, KappaSE float64
	Squares                    float64 // residual sum of squares
	R2                         float64 // share of the spread that is explained
}

// At gives the throughput at level n.
func (u USL) At(n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

// Peak gives the level with the largest throughput: infinite without coherency, 0 where
// contention alone takes all that a level adds.
func (u USL) Peak() float64 {
	if u.Sigma >= 1 {
		return 0
	}
	return math.Sqrt((1 - u.Sigma) / u.Kappa)
}

// FitUSL fits the law by least squares within its bounds. ErrTooFew below 4 different
// levels, ErrNonPositive, ErrLengthMismatch; ErrNotFinite where the levels are too far
// apart to be fitted.
func FitUSL(n, throughput []float64) (USL, error) {
	if len(n) != len(throughput) {
		return USL{}, ErrLengthMismatch
	}
	if err := checkPositive(n, throughput); err != nil {
		return USL{}, err
	}
	if different := slices.Compact(slices.Sorted(slices.Values(n))); len(different) < uslLevels {
		return USL{}, ErrTooFew
	}
	f := uslFit{n: n, x: make([]float64, len(n)), unit: slices.Max(throughput)}
	for i, v := range throughput {
		f.x[i] = v / f.unit
	}
	// The least squares lie inside the bounds, on one of them, or where both meet.
	least, at := math.Inf(1), uslPoint{}
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		if p, squares := f.descend(free); squares < least {
			least, at = squares, p
		}
	}
	return f.result(at, least)
}

// uslPoint is lambda in the unit of the fit, sigma, kappa.
type uslPoint [3]float64

// uslFit is the data of a fit, the largest throughput being 1.
type uslFit struct {
	n, x []float64
	unit float64
}

// squares is the residual sum of squares.
func (f uslFit) squares(p uslPoint) float64 {
	var sum float64
	for i, n := range f.n {
		sum += math.Pow(f.x[i]-USL{Lambda: p[0], Sigma: p[1], Kappa: p[2]}.At(n), 2)
	}
	return sum
}

// jacobian gives the derivatives of the law by some of the parameters, a column each,
// and the residuals.
func (f uslFit) jacobian(p uslPoint, free []int) (*mat.Dense, *mat.VecDense) {
	j, r := mat.NewDense(len(f.n), len(free), nil), mat.NewVecDense(len(f.n), nil)
	for i, n := range f.n {
		d := 1 + p[1]*(n-1) + p[2]*n*(n-1)
		slope := -p[0] * n * (n - 1) / (d * d)
		by := uslPoint{n / d, slope, slope * n}
		for c, k := range free {
			j.Set(i, c, by[k])
		}
		r.SetVec(i, f.x[i]-p[0]*n/d)
	}
	return j, r
}

// start solves the law in its linear form, n/x = (1 + sigma*(n-1) + kappa*n*(n-1)) / lambda,
// weighted so that its residuals are close to those of x.
func (f uslFit) start(free []int) uslPoint {
	a, b := mat.NewDense(len(f.n), len(free), nil), mat.NewVecDense(len(f.n), nil)
	p := uslPoint{}
	for i, n := range f.n {
		weight := f.x[i] * f.x[i] / n
		by := uslPoint{weight, weight * (n - 1), weight * n * (n - 1)}
		for c, k := range free {
			a.Set(i, c, by[k])
		}
		b.SetVec(i, f.x[i])
		p[0] = max(p[0], f.x[i]/n)
	}
	var s mat.VecDense
	if err := s.SolveVec(a, b); err != nil || !(s.AtVec(0) > 0) {
		return p
	}
	p[0] = 1 / s.AtVec(0)
	for c, k := range free[1:] {
		p[k] = max(0, s.AtVec(c+1)*p[0])
	}
	return p
}

// descend finds the least squares over some of the parameters, the others being 0, by
// Levenberg-Marquardt (Marquardt 1963); a step that leaves the bounds ends on them.
func (f uslFit) descend(free []int) (uslPoint, float64) {
	p := f.start(free)
	least, damping := f.squares(p), 1e-3
	for range uslSteps {
		j, r := f.jacobian(p, free)
		next, ok := stepped(p, free, j, r, damping)
		squares := math.Inf(1)
		if ok {
			squares = f.squares(next)
		}
		if squares <= least {
			moved := least - squares
			p, least, damping = next, squares, max(damping/10, 1e-12)
			if moved <= 1e-15*least {
				break
			}
			continue
		}
		if damping *= 10; damping > 1e12 {
			break
		}
	}
	return p, least
}

// stepped is one step of Marquardt's, held inside the bounds.
func stepped(p uslPoint, free []int, j *mat.Dense, r *mat.VecDense, damping float64) (uslPoint, bool) {
	var square mat.SymDense
	square.SymOuterK(1, j.T())
	for c := range free {
		square.SetSym(c, c, square.At(c, c)*(1+damping))
	}
	var down, step mat.VecDense
	down.MulVec(j.T(), r)
	var factor mat.Cholesky
	if !factor.Factorize(&square) || factor.SolveVecTo(&step, &down) != nil {
		return p, false
	}
	for c, k := range free {
		p[k] = max(0, p[k]+step.AtVec(c))
	}
	return p, p[0] > 0
}

// result puts a fit into the unit of the data, with the standard errors.
func (f uslFit) result(p uslPoint, squares float64) (USL, error) {
	u := USL{Lambda: p[0] * f.unit, Sigma: p[1], Kappa: p[2], Squares: squares * f.unit * f.unit}
	_, variance := stat.MeanVariance(f.x, nil)
	u.R2 = 1
	if variance > 0 {
		u.R2 = 1 - squares/(variance*float64(len(f.x)-1))
	}
	j, _ := f.jacobian(p, []int{0, 1, 2})
	var square mat.SymDense
	square.SymOuterK(1, j.T())
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(&square) || factor.InverseTo(&inverse) != nil {
		return USL{}, ErrNotFinite
	}
	residual := squares / float64(len(f.x)-len(p))
	se := func(k int) float64 { return math.Sqrt(residual * inverse.At(k, k)) }
	u.LambdaSE, u.SigmaSE, u.KappaSE = se(0)*f.unit, se(1), se(2)
	return u, checkFinite([]float64{u.Lambda, u.Sigma, u.Kappa, u.LambdaSE, u.SigmaSE, u.KappaSE, u.Squares, u.R2})
}
