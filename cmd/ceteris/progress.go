package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// progress shows how a sweep goes: a bar on a terminal, one line a run elsewhere.
type progress struct {
	w      io.Writer
	metric string
	unit   experiment.Unit
	bars   *mpb.Progress // nil: lines
	bar    *mpb.Bar
	now    string // what runs, for the bar
	eta    time.Duration
}

func newProgress(w io.Writer, metric string) *progress {
	m, _ := experiment.MetricByName(metric)
	p := &progress{w: w, metric: metric, unit: m.Unit}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
	}
	return p
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
		if p.bars == nil {
			p.say("round %d of %d is done", e.Round, e.Rounds)
		}
	}
}

func (p *progress) say(format string, a ...any) {
	line := "ceteris: " + fmt.Sprintf(format, a...) + "\n"
	if p.bar != nil {
		_, _ = p.bars.Write([]byte(line)) // above the bar
		return
	}
	fmt.Fprint(p.w, line)
}

func (p *progress) began(e conduct.Event) {
	p.now, p.eta = e.Cell.Label(), e.ETA
	if p.bars == nil {
		return
	}
	if p.bar == nil {
		p.bar = p.bars.AddBar(int64(e.Total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
				if p.eta == 0 {
					return " " + p.now
				}
				return fmt.Sprintf(" %v left  %s", p.eta.Round(time.Second), p.now)
			})))
	}
	p.bar.SetCurrent(int64(e.Done))
}

func (p *progress) ended(e conduct.Event) {
	p.eta = e.ETA
	value := string(e.Run.State)
	if e.HasValue {
		value = fmt.Sprintf("%s %s", p.metric, report.Quantity(e.Value, p.unit))
	}
	if e.Run.State != experiment.StateOK {
		value = fmt.Sprintf("%s (%s)", e.Run.State, e.Run.Reason)
	}
	line := fmt.Sprintf("[%d/%d] round %d %s: %s", e.Done, e.Total, e.Round, e.Cell.Label(), value)
	if p.bar != nil {
		p.bar.SetCurrent(int64(e.Done))
		if e.Run.State != experiment.StateOK {
			p.say("%s", line)
		}
		return
	}
	if e.ETA > 0 {
		line += fmt.Sprintf(", about %v left", e.ETA.Round(time.Second))
	}
	fmt.Fprintln(p.w, line)
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
}
