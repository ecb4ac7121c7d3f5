package conduct

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// EventKind says what happened.
type EventKind string

// The kinds of events, in the order in which they come.
const (
	EventPreparing  EventKind = "preparing" // images and programs are built
	EventSweep      EventKind = "sweep"     // begun or continued
	EventRunBegan   EventKind = "run-began"
	EventSnapshot   EventKind = "snapshot" // the volumes of a service are a copy of prepared ones
	EventRunEnded   EventKind = "run-ended"
	EventEngineGone EventKind = "engine-gone" // no run until it is back, or for good
	EventEngineBack EventKind = "engine-back" // runs go on
	EventRound      EventKind = "round"       // all runs of a round of a stage are done
	EventEnough     EventKind = "enough"      // the rounds of a stage are, by the sweep's rule
)

// Event is progress, for people. Fields that a kind does not name are zero.
type Event struct {
	Kind         EventKind
	Sweep        int64
	Continued    bool
	ImagesDiffer bool // from those of the invocation before
	Run          experiment.Run
	Cell         experiment.Cell
	Value        float64 // of the primary metric
	HasValue     bool
	Findings     []experiment.Finding
	Stage        string // of a round that is done
	Round        int
	Rounds       int
	AtMost       bool // Rounds, Total and ETA are bounds: the sweep has a rule
	Done, Total  int  // runs
	ETA          time.Duration
	Why          string        // the engine is gone
	Waited       time.Duration // until it was back
	Service      string        // of a snapshot
	Restored     bool          // the snapshot was there; else this run made it
}

func (s *sweep) event(kind EventKind, run experiment.Run, p experiment.CellPlan) Event {
	return Event{
		Kind: kind, Sweep: s.head.ID, Run: run, Cell: p.Cell, Round: run.Round, Rounds: s.planned(),
		AtMost: s.rule().Until != experiment.StopFixed,
		Done:   s.progress.done, Total: s.progress.total, ETA: s.progress.eta(),
	}
}

// progress estimates what is left from the runs of this invocation.
type progress struct {
	done, total int
	ranCount    int
	ranTime     time.Duration
}

func (p *progress) ran(d time.Duration) {
	p.done++
	p.ranCount++
	p.ranTime += d
}

// eta is the mean time of a run so far, times the runs that are left; 0 before the
// first.
func (p *progress) eta() time.Duration {
	if p.ranCount == 0 {
		return 0
	}
	return p.ranTime / time.Duration(p.ranCount) * time.Duration(p.total-p.done)
}
