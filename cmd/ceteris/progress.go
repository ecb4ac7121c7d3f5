package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// progress shows how a sweep goes: a bar on a terminal that has room
// for it, one line a run elsewhere.
type progress struct {
	screen *screen
	metric string
	unit   experiment.Unit
	bars   *mpb.Progress
	bar    *mpb.Bar // nil: lines instead, or no run has begun

	mu   sync.Mutex // the bar is drawn by a goroutine of its own
	now  string     // what runs
	most string     // before what is left: it is a bound
	end  time.Time  // when all is expected to be done; zero: not known yet
}

func newProgress(screen *screen, metric string) *progress {
	m, _ := experiment.MetricByName(metric)
	return &progress{screen: screen, metric: metric, unit: m.Unit}
}

// on shows one event.
func (p *progress) on(e conduct.Event) {
	switch e.Kind {
	case conduct.EventPreparing:
		p.say("building and checking what the services run")
	case conduct.EventSweep:
		verb := "sweep %d begins"
		if e.Continued {
			verb = "sweep %d goes on"
		}
		p.say(verb, e.Sweep)
		if e.ImagesDiffer {
			p.say("images or programs differ from those of the runs before: run --new starts another sweep")
		}
	case conduct.EventRunBegan:
		p.began(e)
	case conduct.EventRunEnded:
		p.ended(e)
	case conduct.EventRound:
		if p.bar == nil {
			p.say("round %d of %s%s is done", e.Round, ofRounds(e), ofStage(e))
		}
	case conduct.EventEnough:
		p.say("%d rounds%s of %s are enough: the rule is met", e.Round, ofStage(e), ofRounds(e))
	case conduct.EventSnapshot:
		if !e.Restored {
			p.say("the volumes of %s are prepared, and kept for the runs to come", report.Plain(e.Service))
		}
	case conduct.EventEngineGone:
		p.say("the engine is gone, runs wait until it is back: %s", report.Plain(e.Why))
	case conduct.EventEngineBack:
		p.say("the engine is back after %s", report.Duration(e.Waited))
	}
}

// ofRounds is how many there are to be.
func ofRounds(e conduct.Event) string {
	if e.AtMost {
		return fmt.Sprintf("at most %d", e.Rounds)
	}
	return fmt.Sprint(e.Rounds)
}

// ofStage names the stage of an event, unless it is the one that every sweep has.
func ofStage(e conduct.Event) string {
	if e.Stage == experiment.MainStage || e.Stage == "" {
		return ""
	}
	return " of stage " + report.Plain(e.Stage)
}

func (p *progress) say(format string, a ...any) {
	fmt.Fprintf(p.screen, "ceteris: "+format+"\n", a...)
}

func (p *progress) began(e conduct.Event) {
	if p.bar == nil && p.screen.bar() {
		p.bars = mpb.New(mpb.WithOutput(p.screen.w), mpb.WithWidth(barWidth))
		p.screen.hold(p.bars)
		p.bar = p.bars.AddBar(int64(e.Total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.foot() })))
	}
	p.update(e)
}

// update moves the bar, if there is one.
func (p *progress) update(e conduct.Event) {
	if p.bar == nil {
		return
	}
	p.mu.Lock()
	p.now, p.end = fmt.Sprintf("round %d of %s, %s", e.Round, ofRounds(e), nameOf(e.Cell)), time.Time{}
	if e.ETA > 0 {
		p.end = time.Now().Add(e.ETA)
	}
	p.most = ""
	if e.AtMost {
		p.most = "at most "
	}
	p.mu.Unlock()
	p.bar.SetCurrent(int64(e.Done))
}

// foot is what stands behind the bar.
func (p *progress) foot() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.IsZero() {
		return "  " + p.now
	}
	return fmt.Sprintf("  %s%v left  %s", p.most, max(time.Until(p.end), 0).Round(time.Second), p.now)
}

func (p *progress) ended(e conduct.Event) {
	p.update(e)
	value := string(e.Run.State)
	if e.HasValue {
		value = fmt.Sprintf("%s %s", p.metric, report.Quantity(e.Value, p.unit))
	}
	if e.Run.State != experiment.StateOK {
		value = fmt.Sprintf("%s (%s)", e.Run.State, e.Run.Reason)
	}
	line := fmt.Sprintf("[%d/%d] round %d %s: %s", e.Done, e.Total, e.Round, nameOf(e.Cell), value)
	switch {
	case p.bar != nil && e.Run.State == experiment.StateOK:
		return
	case p.bar == nil && e.ETA > 0:
		about := "about"
		if e.AtMost {
			about = "at most"
		}
		line += fmt.Sprintf(", %s %v left", about, e.ETA.Round(time.Second))
	}
	fmt.Fprintln(p.screen, report.Plain(line))
}

// close leaves the terminal in order.
func (p *progress) close() {
	if p.bar == nil {
		return
	}
	if !p.bar.Completed() {
		p.bar.Abort(false)
	}
	p.bars.Wait()
	p.screen.hold(nil)
}
