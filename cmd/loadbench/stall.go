//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
	"github.com/ceteris/ceteris/runners/load/reader"
)

// The stall: at a given rate the target, which answers each request after a delay, does
// nothing at all for a second.
const (
	stallRate        = 1000 // 1/s
	stallWindow      = 10 * time.Second
	stallAfter       = 4 * time.Second
	stallLength      = time.Second
	stallDelay       = 10 * time.Millisecond
	stallConnections = 50   // of peers: as many as divide the rate
	stallPlaces      = 1500 // connections of ours: more than arrivals in the stall
	dropLimit        = 200  // in flight, where what is above it is dropped
)

// Told is response times in seconds; what a tool does not tell is absent.
type Told map[string]float64

// told are the names in Told.
func told() []string { return []string{"p50", "p99", "p999", "max"} }

// share is the quantile of a name.
func share(name string) float64 {
	switch name {
	case "p50":
		return 0.5
	case "p99":
		return 0.99
	case "p999":
		return 0.999
	default:
		return 1
	}
}

// Stalled is what a tool says of a stall, beside what was true.
type Stalled struct {
	Tool     string `json:"tool"`
	Requests int64  `json:"requests"` // that came, of stallRate by stallWindow
	Truth    Told   `json:"truth"`
	Says     Told   `json:"says"`
	Of       string `json:"of"`            // what it says is of: latency, service_time
	Why      string `json:"why,omitempty"` // it says nothing
}

// Account is the sum of a load that dropped what had no place.
type Account struct {
	Scheduled  int64 `json:"scheduled"` // rate by window
	Offered    int64 `json:"offered"`   // by the generator
	Sent       int64 `json:"sent"`
	Dropped    int64 `json:"dropped"`
	Unfinished int64 `json:"unfinished"`
	Arrived    int64 `json:"arrived"` // at the target
}

// exact reports whether the generator says what the target counted.
func (a Account) exact() bool {
	return a.Offered == a.Scheduled && a.Sent == a.Arrived && a.Dropped == a.Scheduled-a.Arrived && a.Dropped > 0 && a.Unfinished == 0
}

// Stalls is the outcome of the stall.
type Stalls struct {
	Tools []Stalled `json:"tools"`
	Drops Account   `json:"drops"`
}

// stallPeers are those that keep a rate and so can be told the schedule.
func (b *bench) stallPeers() []*tool { return having(b.peers, func(t *tool) bool { return t.open }) }

// stall sends the same load with ours, with each peer, and with ours dropping.
func (b *bench) stall(ctx context.Context) (*Stalls, error) {
	n := stallRate * int(stallWindow.Seconds())
	stretch := target.Stretch{Records: 2 * n, Delay: stallDelay, StallAfter: stallAfter, Stall: stallLength}
	j := job{rate: stallRate, window: stallWindow, connections: stallPlaces}
	fmt.Fprintf(b.log, "stall: %s\n", ours)
	s, err := b.callWith(ctx, b.ours, j, stretch, loadgenNumbered, false)
	if err != nil {
		return nil, err
	}
	own := Stalled{Tool: ours, Requests: s.target.Requests, Truth: tell(recorded(s.target.Records, stallRate))}
	out := &Stalls{Tools: []Stalled{own.with(b.says(ctx, b.ours, s))}}
	j.connections = stallConnections
	for _, t := range b.stallPeers() {
		fmt.Fprintf(b.log, "stall: %s\n", t.name)
		s, err := b.call(ctx, t, j, stretch)
		if _, failed := errors.AsType[*toolError](err); failed {
			fmt.Fprintf(b.log, "stall: without %v\n", err)
			continue
		}
		if err != nil {
			return out, err
		}
		peer := Stalled{Tool: t.name, Requests: s.target.Requests, Truth: tell(ideal(s.target, n, stallRate))}
		out.Tools = append(out.Tools, peer.with(b.says(ctx, t, s)))
	}
	fmt.Fprintf(b.log, "stall: %s, dropping\n", ours)
	out.Drops, err = b.drops(ctx, stretch)
	return out, err
}

// drops is the load of which the stall leaves no place for most.
func (b *bench) drops(ctx context.Context, stretch target.Stretch) (Account, error) {
	j := job{rate: stallRate, window: stallWindow, connections: dropLimit}
	s, err := b.callWith(ctx, b.ours, j, stretch, func(j job) (invocation, error) {
		l := plan(j)
		l.Open.InFlight = dropLimit
		return planned(j, l, "")
	}, false)
	if err != nil {
		return Account{}, err
	}
	r, err := load.Reader{}.Read(ctx, bytes.NewReader(s.output), nil)
	return Account{
		Scheduled: int64(stallRate * stallWindow.Seconds()), Arrived: s.target.Requests,
		Offered: r.Total.Offered, Sent: r.Total.Sent, Dropped: r.Total.Dropped, Unfinished: r.Total.Unfinished,
	}, err
}

// loadgenNumbered is loadgen with a number in every request.
func loadgenNumbered(j job) (invocation, error) {
	l, data := numbered(plan(j), j.rate*int(j.window.Seconds()))
	return planned(j, l, data)
}

// says reads the output of a tool.
func (b *bench) says(ctx context.Context, t *tool, s sample) (experiment.LoadResult, error) {
	if t == b.ours {
		return load.Reader{}.Read(ctx, bytes.NewReader(s.output), nil)
	}
	r, ok := reader.All()[t.name]
	if !ok {
		return experiment.LoadResult{}, errors.New("its output has no reader")
	}
	output := s.output
	if t.report != nil {
		inv := invocation{args: t.report, stdin: string(s.output)}
		made, err := execute(ctx, b.cores[1], t.path, inv, b.dir, false)
		if err != nil {
			return experiment.LoadResult{}, err
		}
		output = made.output
	}
	return r.ReadOutput(bytes.NewReader(output), experiment.Span{})
}

// with adds what a tool says: from the intended start, or else from the real send.
func (s Stalled) with(r experiment.LoadResult, err error) Stalled {
	if err != nil {
		s.Why = err.Error()
		return s
	}
	values := map[string]float64{}
	for _, o := range r.Observations {
		values[o.Metric] = o.Value
	}
	for _, s.Of = range []string{"latency", "service_time"} {
		s.Says = Told{}
		for _, name := range told() {
			if v, ok := values[s.Of+"_"+name]; ok {
				s.Says[name] = v
			}
		}
		if len(s.Says) > 0 {
			return s
		}
	}
	s.Of, s.Why = "", "it tells no response time"
	return s
}

// recorded gives the response times of what came, from the intended starts, sorted. A
// request with a number is the one of that place in the schedule.
func recorded(records []target.Record, rate int) []time.Duration {
	return sinceDue(records, rate, func(r target.Record) int64 { return r.Answered })
}

// ideal gives the response times which n requests would have had that are sent as
// scheduled, sorted: those of the stall are answered after its end.
func ideal(r target.Report, n, rate int) []time.Duration {
	if len(r.Records) == 0 {
		return nil
	}
	start := r.Records[0].Arrived
	out := make([]time.Duration, n)
	for k := range n {
		at := start + due(k, rate)
		arrived := at
		if at >= r.StallFrom && at < r.StallTo {
			arrived = r.StallTo
		}
		answered := arrived + int64(stallDelay)
		if answered >= r.StallFrom && answered < r.StallTo {
			answered = r.StallTo
		}
		out[k] = time.Duration(answered - at)
	}
	slices.Sort(out)
	return out
}

func tell(sorted []time.Duration) Told {
	out := Told{}
	for _, name := range told() {
		out[name] = quantile(sorted, share(name)).Seconds()
	}
	return out
}
