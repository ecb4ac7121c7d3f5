package load

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// stretch is a piece of time with slices of its own: they begin with it, and the last
// one takes what the division leaves over.
type stretch struct {
	begin, end time.Duration
	first      int // index of its first slice
	count      int
	window     int // index of the window that it is; negative: it is none
}

// grid divides time into slices. Those before the first stretch end with its begin,
// those after the last one begin with its end; all have the same width, but for the
// last of each stretch.
type grid struct {
	width     time.Duration
	stretches []stretch // one after another
}

// newGrid has a stretch for each phase that the load declares, else one for its window
// at its latest.
func newGrid(l experiment.Load) grid {
	g := grid{width: l.SliceWidth()}
	if l.Phases == nil {
		begin := latestWindow(l)
		g.add(begin, begin+l.Measure, 0)
		return g
	}
	at, windows := -lead(l), 0
	for _, p := range l.Phases {
		window := -1
		if p.Measure {
			window = windows
			windows++
		}
		g.add(at, at+p.For, window)
		at += p.For
	}
	return g
}

func (g *grid) add(begin, end time.Duration, window int) {
	s := stretch{begin: begin, end: end, count: max(int((end-begin)/g.width), 1), window: window}
	if n := len(g.stretches); n > 0 {
		s.first = g.stretches[n-1].first + g.stretches[n-1].count
	}
	g.stretches = append(g.stretches, s)
}

// index gives the slice in which a moment lies.
func (g *grid) index(at time.Duration) int {
	first := &g.stretches[0]
	if at < first.begin {
		return -int((first.begin - at + g.width - 1) / g.width)
	}
	for i := range g.stretches {
		if s := &g.stretches[i]; at < s.end {
			return s.first + min(int((at-s.begin)/g.width), s.count-1)
		}
	}
	last := &g.stretches[len(g.stretches)-1]
	return last.first + last.count + int((at-last.end)/g.width)
}

// begin gives the moment at which slice i begins, and the window in which it lies;
// negative: in none.
func (g *grid) begin(i int) (at time.Duration, window int) {
	first := &g.stretches[0]
	if i < 0 {
		return first.begin + time.Duration(i)*g.width, -1
	}
	for k := range g.stretches {
		if s := &g.stretches[k]; i < s.first+s.count {
			return s.begin + time.Duration(i-s.first)*g.width, s.window
		}
	}
	last := &g.stretches[len(g.stretches)-1]
	return last.end + time.Duration(i-last.first-last.count)*g.width, -1
}

// forward moves the only stretch, whole slices to the past, and gives by how much the
// index of every slice grows.
func (g *grid) forward(begin time.Duration) int {
	s := &g.stretches[0]
	by := s.begin - begin
	s.begin, s.end = begin, s.end-by
	return int(by / g.width)
}

// cut ends the only stretch at a moment, which must not lie before it. What is left
// over is a slice of its own unless it is shorter than at_ms can tell.
func (g *grid) cut(end time.Duration) {
	s := &g.stretches[0]
	s.end = end
	s.count = int((end - s.begin) / g.width)
	if (end-s.begin)%g.width >= minWindow || s.count == 0 {
		s.count++
	}
}

// wholeMS gives a moment in whole milliseconds, rounded down: slices are at least one
// apart, so no two of them share it.
func wholeMS(at time.Duration) int64 {
	ms := at.Milliseconds()
	if at < time.Duration(ms)*time.Millisecond {
		ms--
	}
	return ms
}
