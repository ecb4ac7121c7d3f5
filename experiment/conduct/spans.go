package conduct

import "github.com/ceteris/ceteris/experiment"

// edges tells, from what a generator says, when the measured window begins and ends.
// Where the load has phases of its own, the window reaches from the beginning of the
// first that is measured to the end of the last.
type edges struct {
	last         string // name of the last measured phase; empty without phases
	inLast       bool
	begun, ended bool
}

func newEdges(l experiment.Load) *edges {
	e := &edges{}
	for _, p := range l.Phases {
		if p.Measure {
			e.last = p.Name
		}
	}
	return e
}

// of says whether the window begins or ends with an event.
func (e *edges) of(event experiment.LoadEvent) (begins, ends bool) {
	measured := event.Phase == experiment.PhaseMeasure
	intoLast := measured && e.last != "" && event.Part == e.last
	begins = measured && !e.begun
	ends = e.begun && !e.ended && (event.Phase == experiment.PhaseDrain || e.inLast && !intoLast)
	e.begun, e.ended, e.inLast = e.begun || begins, e.ended || ends, intoLast
	return begins, ends
}
