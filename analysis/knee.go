package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Stick is two straight lines that meet.
type Stick struct {
	Break         float64 // where they meet
	Before, After float64 // slopes
	Squares       float64 // residual sum of squares
	Straight      float64 // the same of one straight line
}

// BrokenStick fits two lines that meet between the second and the last but one of the
// different x, by least squares over the break too. The minimum is found exactly: it lies
// where the two lines fitted apart cross, if that is between the points they divide, and
// else at a point (Hudson 1966). ErrTooFew below 4 different x.
func BrokenStick(x, y []float64) (Stick, error) {
	if len(x) != len(y) {
		return Stick{}, ErrLengthMismatch
	}
	if err := checkFinite(x, y); err != nil {
		return Stick{}, err
	}
	points := make([]point, len(x))
	for i := range x {
		points[i] = point{x[i], y[i]}
	}
	slices.SortStableFunc(points, func(a, b point) int { return sign(a.x - b.x) })
	var starts []int // of each different x
	for i, p := range points {
		if i == 0 || p.x != points[i-1].x {
			starts = append(starts, i)
		}
	}
	if len(starts) < 4 {
		return Stick{}, ErrTooFew
	}
	out := Stick{Squares: math.Inf(1), Straight: straight(points).squares}
	for _, start := range starts[1 : len(starts)-1] {
		out.closer(points, points[start].x)
	}
	for _, start := range starts[2 : len(starts)-1] {
		low, high := straight(points[:start]), straight(points[start:])
		cross := (low.at0 - high.at0) / (high.slope - low.slope)
		if cross > points[start-1].x && cross < points[start].x {
			out.closer(points, cross)
		}
	}
	if math.IsInf(out.Squares, 0) {
		return Stick{}, ErrNotFinite
	}
	return out, nil
}

type point struct{ x, y float64 }

type line struct{ at0, slope, squares float64 }

// straight is the line of least squares.
func straight(points []point) line {
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = p.x, p.y
	}
	var l line
	l.at0, l.slope = stat.LinearRegression(x, y, nil, false)
	for _, p := range points {
		off := p.y - l.at0 - l.slope*p.x
		l.squares += off * off
	}
	return l
}

// closer fits the stick that breaks at t and keeps it if it is closer to the points.
func (s *Stick) closer(points []point, t float64) {
	// With u and v the distances from t on either side, y = at + before*u + after*v: the
	// normal equations for values around their means.
	n := float64(len(points))
	var mu, mv, my float64
	for _, p := range points {
		mu, mv, my = mu+min(0, p.x-t)/n, mv+max(0, p.x-t)/n, my+p.y/n
	}
	var uu, uv, vv, uy, vy float64
	for _, p := range points {
		u, v, y := min(0, p.x-t)-mu, max(0, p.x-t)-mv, p.y-my
		uu, uv, vv, uy, vy = uu+u*u, uv+u*v, vv+v*v, uy+u*y, vy+v*y
	}
	det := uu*vv - uv*uv
	if !(det > 0) {
		return
	}
	before, after := (uy*vv-vy*uv)/det, (vy*uu-uy*uv)/det
	var squares float64
	for _, p := range points {
		squares += math.Pow(p.y-my-before*(min(0, p.x-t)-mu)-after*(max(0, p.x-t)-mv), 2)
	}
	if squares < s.Squares {
		s.Break, s.Before, s.After, s.Squares = t, before, after, squares
	}
}
