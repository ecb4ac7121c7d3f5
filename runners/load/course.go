package load

import (
	"math/rand/v2"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// leg is a stretch of a load in which it keeps one shape.
type leg struct {
	begin, end time.Duration // end is never if it lasts as long as the load
	ramp       time.Duration
	closed     *experiment.ClosedLoad
	open       *experiment.OpenLoad // neither: idle
	users      int                  // before it
	rate       float64              // before it
}

// pacer gives the schedule of an open leg, or of an idle one in whose ramp an open
// load ends.
func (g leg) pacer() Pacer {
	p := Pacer{Ramp: g.ramp, From: g.rate}
	if g.open != nil {
		p.Rate = g.open.Rate
	}
	return p
}

// span gives the moments between which a user works in the leg.
func (g leg) span(i int) (from, to time.Duration) {
	users := 0
	if g.closed != nil {
		users = g.closed.Users
	}
	length := never - max(g.begin, 0)
	if g.end != never {
		length = g.end - g.begin
	}
	from, to = UserSpan(i, g.users, users, g.ramp, length)
	return g.begin + from, g.begin + to
}

// lead is the time from the start of a load to the moment 0: the begin of its
// first window, or the earliest possible one.
func lead(l experiment.Load) time.Duration {
	if l.Phases == nil {
		return l.Ramp + l.Warmup
	}
	var sum time.Duration
	for _, p := range l.Phases {
		if p.Measure {
			break
		}
		sum += p.For
	}
	return sum
}

// legs gives the shapes of a load one after another; those of its streams stand
// beside them.
func legs(l experiment.Load) []leg {
	at := -lead(l)
	if l.Phases == nil {
		return []leg{{begin: at, end: never, ramp: l.Ramp, closed: l.Closed, open: l.Open}}
	}
	var out []leg
	next := leg{begin: at}
	for _, p := range l.Phases {
		g := next
		g.end, g.ramp, g.closed, g.open = g.begin+p.For, p.Ramp, p.Closed, p.Open
		out = append(out, g)
		next = leg{begin: g.end}
		if p.Closed != nil {
			next.users = p.Closed.Users
		}
		if p.Open != nil {
			next.rate = p.Open.Rate
		}
	}
	return out
}

// streams gives the one leg of each further arrival process.
func streams(l experiment.Load) []leg {
	var out []leg
	for i := range l.Streams {
		out = append(out, leg{begin: l.Streams[i].After - lead(l), end: never, open: &l.Streams[i].Open})
	}
	return out
}

// generators of numbers, apart for each use, so that one load differs from another
// only in what was changed.
const (
	streamDraws = 1 << 32 // + number of the stream; below it users, 0 for the main load
	poissonGaps = 1 << 33 // + number of the lane
)

func draws(seed, use uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, use)) }

// begin is the moment at which a phase begins, and its name if the load declares it.
type begin struct {
	phase experiment.Phase
	part  string
	at    time.Duration
}

// begins gives the phases of the load, up to drain, when its first window begins and
// its last one ends as told. Phases without length are left out; those that a load
// declares are all there: as measured or, wherever they stand, as warm-up.
func begins(l experiment.Load, window, end time.Duration) []begin {
	var out []begin
	at := -lead(l)
	add := func(p experiment.Phase, part string, until time.Duration) {
		if until > at || p == experiment.PhaseMeasure {
			out = append(out, begin{p, part, at})
		}
		at = until
	}
	if l.Phases == nil {
		add(experiment.PhaseRamp, "", at+l.Ramp)
		add(experiment.PhaseWarmup, "", window)
		add(experiment.PhaseMeasure, "", end)
	}
	for _, p := range l.Phases {
		phase := experiment.PhaseWarmup
		if p.Measure {
			phase = experiment.PhaseMeasure
		}
		add(phase, p.Name, at+p.For)
	}
	return append(out, begin{experiment.PhaseDrain, "", at})
}

// loadEnd is the moment at which a load ends at the latest, before its drain.
func loadEnd(l experiment.Load) time.Duration {
	if l.Phases == nil {
		return latestWindow(l) + l.Measure
	}
	end := -lead(l)
	for _, p := range l.Phases {
		end += p.For
	}
	return end
}

// latestWindow is the moment at which the first window begins at the latest: after
// whole slices, so that none straddles it.
func latestWindow(l experiment.Load) time.Duration {
	return max(l.Steady-l.Warmup, 0).Truncate(l.SliceWidth())
}

// Parts gives the windows of the measured phases that a load declares.
func Parts(l experiment.Load) []experiment.LoadPart {
	var out []experiment.LoadPart
	at := -lead(l)
	for _, p := range l.Phases {
		if p.Measure {
			out = append(out, experiment.LoadPart{Name: p.Name, Begin: at, Window: p.For})
		}
		at += p.For
	}
	return out
}

// Timeline gives the phase events of a load that begins at the given time and keeps to
// its plan: steady after its shortest warm-up, at work up to its longest window, and
// drain ends at once.
func Timeline(began time.Time, l experiment.Load) []experiment.LoadEvent {
	var events []experiment.LoadEvent
	for _, b := range begins(l, 0, l.Measure) {
		events = append(events, experiment.LoadEvent{Phase: b.phase, Part: b.part, At: began.Add(b.at + lead(l))})
	}
	return append(events, experiment.LoadEvent{Phase: experiment.PhaseDone, At: events[len(events)-1].At})
}
