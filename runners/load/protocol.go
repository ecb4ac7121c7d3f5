package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Protocol is the version of the protocol; a reader refuses any other.
const Protocol = 2

// MaxLine is the longest line of the protocol in bytes, its newline included.
const MaxLine = 4 << 20

// The types of lines.
const (
	typeHello      = "hello"
	typePhase      = "phase"
	typeSlices     = "slices"
	typeShift      = "shift"
	typeHistograms = "histograms"
	typeResult     = "result"
	typeAbort      = "abort"
	typeEnd        = "end"
)

// message is one line, of any type.
type message struct {
	N        int64            `json:"n"` // number of the line, from 1
	Type     string           `json:"type"`
	Protocol int              `json:"protocol,omitempty"` // hello
	Program  string           `json:"program,omitempty"`  // hello
	Time     time.Time        `json:"time,omitzero"`      // phase, slices: wall clock
	Phase    experiment.Phase `json:"phase,omitempty"`    // phase
	Part     string           `json:"part,omitempty"`     // phase: its name, where the load declares it
	Series   []track          `json:"series,omitempty"`   // slices
	ShiftMS  int64            `json:"shift_ms,omitempty"` // shift: at_ms of all slices counts from a moment so much before the window
	Hists    []histogram      `json:"histograms,omitempty"`
	Result   *result          `json:"result,omitempty"` // result
	Reason   string           `json:"reason,omitempty"` // abort
	Lines    int64            `json:"lines,omitempty"`  // end: lines before this one
	SHA256   string           `json:"sha256,omitempty"` // end: of those lines, newlines included, in hex
}

// track is consecutive points of one metric.
type track struct {
	Service string  `json:"service,omitempty"`
	Metric  string  `json:"metric"`
	Points  []point `json:"points"`
}

// point is a value and its at_ms; as JSON [at_ms, value].
type point struct {
	at    int64
	value float64
}

func (p point) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{p.at, p.value}) }

func (p *point) UnmarshalJSON(b []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a point has %d parts instead of 2", len(pair))
	}
	if err := json.Unmarshal(pair[0], &p.at); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &p.value)
}

// result is experiment.LoadResult without its series and histograms, which went
// ahead.
type result struct {
	WindowNS     int64                        `json:"window_ns"`
	Parts        []experiment.LoadPart        `json:"parts,omitempty"`
	Observations []observation                `json:"observations,omitempty"`
	Statuses     map[string]int64             `json:"statuses,omitempty"`
	Errors       map[string]int64             `json:"errors,omitempty"`
	Total        experiment.Totals            `json:"total,omitzero"`
	Requests     map[string]experiment.Totals `json:"requests,omitempty"`
}

type observation struct {
	Metric string           `json:"metric"`
	Phase  experiment.Phase `json:"phase"`
	Value  float64          `json:"value"`
	Unit   experiment.Unit  `json:"unit,omitempty"`
}

type histogram struct {
	Phase    experiment.Phase         `json:"phase"`
	Request  string                   `json:"request,omitempty"`
	Kind     experiment.HistogramKind `json:"kind"`
	Count    int64                    `json:"count"`
	Overflow int64                    `json:"overflow,omitempty"`
	HDR      []byte                   `json:"hdr,omitempty"` // base64 in JSON
}

// Encoder writes the protocol: hello, then phases and slices, then result and
// end. Each line is one Write. After an error every call returns that error.
// It is not safe for concurrent use.
type Encoder struct {
	w     io.Writer
	n     int64
	sum   hash.Hash
	buf   bytes.Buffer
	fault error
}

// NewEncoder makes an encoder and writes nothing yet.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w, sum: sha256.New()} }

// Hello writes the first line; program names the generator.
func (e *Encoder) Hello(program string) error {
	return e.write(message{Type: typeHello, Protocol: Protocol, Program: program})
}

// Phase tells that a phase began at the given wall-clock time; PhaseDone tells
// that drain ended. Phases come in order; ramp and warmup may be left out. Those with
// a name, which the load declares itself, are measured or warm-up in any order.
func (e *Encoder) Phase(p experiment.Phase, part string, at time.Time) error {
	return e.write(message{Type: typePhase, Phase: p, Part: part, Time: at})
}

// Shift tells, when the window begins, that at_ms of all slices counts from a moment
// before it: it was not known when it would begin.
func (e *Encoder) Shift(by time.Duration) error {
	return e.write(message{Type: typeShift, ShiftMS: by.Milliseconds()})
}

// Slices writes the points of slices that closed, in lines below MaxLine.
func (e *Encoder) Slices(at time.Time, points []experiment.SeriesPoint) error {
	const chunk = 10_000 // points a line, each below 400 bytes
	for len(points) > 0 {
		n := min(len(points), chunk)
		if err := e.write(message{Type: typeSlices, Time: at, Series: tracks(points[:n])}); err != nil {
			return err
		}
		points = points[n:]
	}
	return e.fault
}

// Result writes the histograms, in lines below MaxLine, and the result. r.Series is
// not written: it goes ahead by Slices.
func (e *Encoder) Result(r experiment.LoadResult) error {
	const chunk = 32 // histograms a line, each below 100 kB
	for some := range slices.Chunk(r.Histograms, chunk) {
		m := message{Type: typeHistograms}
		for _, h := range some {
			m.Hists = append(m.Hists, histogram{
				Phase: h.Phase, Request: h.Request, Kind: h.Kind, Count: h.Count, Overflow: h.Overflow, HDR: h.Blob,
			})
		}
		if err := e.write(m); err != nil {
			return err
		}
	}
	out := result{WindowNS: int64(r.Window), Parts: r.Parts, Statuses: r.Statuses, Errors: r.Errors, Total: r.Total, Requests: r.Requests}
	for _, o := range r.Observations {
		out.Observations = append(out.Observations, observation(o))
	}
	return e.write(message{Type: typeResult, Result: &out})
}

// Abort tells that no result will come, and why; nothing may follow.
func (e *Encoder) Abort(reason string) error {
	return e.write(message{Type: typeAbort, Reason: reason})
}

// End writes the last line: the number of lines before it and their checksum.
func (e *Encoder) End() error {
	return e.write(message{Type: typeEnd, Lines: e.n, SHA256: hex.EncodeToString(e.sum.Sum(nil))})
}

func (e *Encoder) write(m message) error {
	if e.fault != nil {
		return e.fault
	}
	m.N = e.n + 1
	e.buf.Reset()
	if err := json.NewEncoder(&e.buf).Encode(m); err != nil { // ends in a newline
		e.fault = fmt.Errorf("encode %s line: %w", m.Type, err)
		return e.fault
	}
	if e.buf.Len() > MaxLine {
		e.fault = fmt.Errorf("encode %s line: %d bytes exceed the limit of %d", m.Type, e.buf.Len(), MaxLine)
		return e.fault
	}
	if _, err := e.w.Write(e.buf.Bytes()); err != nil {
		e.fault = fmt.Errorf("write %s line: %w", m.Type, err)
		return e.fault
	}
	e.sum.Write(e.buf.Bytes())
	e.n++
	return nil
}

// tracks groups consecutive points of one metric; the order is kept.
func tracks(points []experiment.SeriesPoint) []track {
	var out []track
	for _, p := range points {
		if last := len(out) - 1; last < 0 || out[last].Service != p.Service || out[last].Metric != p.Metric {
			out = append(out, track{Service: p.Service, Metric: p.Metric})
		}
		last := &out[len(out)-1]
		last.Points = append(last.Points, point{p.AtMS, p.Value})
	}
	return out
}

// Script writes the whole valid output of a generator that met the given events
// (as from Timeline; they must hold measure, drain and done) and ended with r.
// Series of events are written at their place; r.Series, where there is any,
// before the last event. It takes no time: a reader gets the result at once.
func Script(w io.Writer, r experiment.LoadResult, events ...experiment.LoadEvent) error {
	e := NewEncoder(w)
	if err := e.Hello("script"); err != nil {
		return err
	}
	for i, ev := range events {
		if i == len(events)-1 {
			if err := e.Slices(ev.At, r.Series); err != nil {
				return err
			}
		}
		if ev.Phase != "" {
			if err := e.Phase(ev.Phase, ev.Part, ev.At); err != nil {
				return err
			}
		}
		if err := e.Slices(ev.At, ev.Series); err != nil {
			return err
		}
	}
	if err := e.Result(r); err != nil {
		return err
	}
	return e.End()
}
