package load

import (
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// counts are requests, each at its own moment: intended start for offered, dropped
// and unfinished, real send, completion.
type counts struct {
	offered, sent, dropped, waiting, ok, failed, unfinished int64

	traffic
	okBytes int64 // received for successes

	statuses [1000]int64 // three digits, as the protocol has it
	errors   map[string]int64
}

func (c *counts) done(o outcome) {
	if o.status > 0 {
		c.statuses[o.status]++
	}
	if o.kind == "" {
		c.ok++
		c.okBytes += o.received
		return
	}
	c.failed++
	if c.errors == nil {
		c.errors = map[string]int64{}
	}
	c.errors[o.kind]++
}

func (c *counts) add(o *counts) {
	c.traffic.add(o.traffic)
	c.okBytes += o.okBytes
	c.offered += o.offered
	c.sent += o.sent
	c.dropped += o.dropped
	c.waiting += o.waiting
	c.ok += o.ok
	c.failed += o.failed
	c.unfinished += o.unfinished
	for i, n := range o.statuses {
		c.statuses[i] += n
	}
	for kind, n := range o.errors {
		if c.errors == nil {
			c.errors = map[string]int64{}
		}
		c.errors[kind] += n
	}
}

func (c *counts) totals() experiment.Totals {
	return experiment.Totals{
		Offered: c.offered, Sent: c.sent, Dropped: c.dropped, Waiting: c.waiting,
		OK: c.ok, Failed: c.failed, Unfinished: c.unfinished,
		Connects: c.connects, BytesSent: c.written, BytesReceived: c.received,
		Statuses: c.byStatus(), Errors: c.errors,
	}
}

func (c *counts) byStatus() map[string]int64 {
	var out map[string]int64
	for status, n := range c.statuses {
		if n > 0 {
			if out == nil {
				out = map[string]int64{}
			}
			out[strconv.Itoa(status)] = n
		}
	}
	return out
}

// tally is what is recorded of the requests of a window: all of them, or those of one
// name.
type tally struct {
	counts

	success, failure, service, lateness Distribution // intended start inside the window
}

// add adds what another shard has recorded.
func (t *tally) add(o *tally) {
	t.counts.add(&o.counts)
	t.success.Merge(&o.success)
	t.failure.Merge(&o.failure)
	t.service.Merge(&o.service)
	t.lateness.Merge(&o.lateness)
}

// window is a measured part of the load.
type window struct {
	name       string // empty unless the load declares phases
	begin, end time.Duration
	all        tally
	named      []tally // by kind of request; none if they have no names
}

func newWindow(name string, begin, end time.Duration, kinds int) *window {
	w := &window{name: name, begin: begin, end: end, named: make([]tally, kinds)}
	for _, d := range []*Distribution{&w.all.success, &w.all.service, &w.all.lateness} {
		d.Reserve() // the others may stay empty
	}
	return w
}

// newWindows gives the windows of a load, where they are at the latest.
func newWindows(l experiment.Load, kinds int) []*window {
	if l.Phases == nil {
		begin := latestWindow(l)
		return []*window{newWindow("", begin, begin+l.Measure, kinds)}
	}
	var out []*window
	for _, p := range Parts(l) {
		out = append(out, newWindow(p.Name, p.Begin, p.Begin+p.Window, kinds))
	}
	return out
}

// add adds the same window of another shard.
func (w *window) add(o *window) {
	w.all.add(&o.all)
	for i := range w.named {
		w.named[i].add(&o.named[i])
	}
}

// length of the window.
func (w *window) length() time.Duration { return w.end - w.begin }
