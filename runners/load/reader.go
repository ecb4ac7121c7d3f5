package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The limits of what a reader keeps, far above what a run can yield.
const (
	maxPoints     = 4 << 20 // points of all series: a week of slices has under 4 million
	maxHistograms = 1 << 15
	maxQuote      = 400 // bytes of foreign output in an error
)

// Reader reads the protocol; it implements experiment.LoadReader. The zero value
// is ready for use.
type Reader struct{}

var _ experiment.LoadReader = Reader{}

// Read reads up to the last line of the protocol and calls on (which may be nil) for
// each event as it arrives. What the generator did wrong wraps
// experiment.ErrIncomplete: a gap, a wrong checksum, giving up, anything that is not
// the protocol, an end before its time, sizes beyond reason. Where r itself fails,
// the error wraps r's and not that one: nothing is known of the generator then. When
// ctx ends, r is closed if it can be, and the error wraps the cause alone. What was
// read so far is returned beside every error. Slices of a warm-up whose end is not yet
// known count from the earliest end of it in the event that brings them, and from the
// real one in the result.
func (Reader) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	if c, ok := r.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	}
	d := decoder{in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New(), on: on}
	for {
		err := context.Cause(ctx)
		if err == nil {
			err = d.next()
		}
		var broken *streamError
		switch {
		case err == nil:
		case errors.Is(err, errEnd):
			return d.out, nil
		case ctx.Err() != nil: // whatever was seen of its end
			return d.out, fmt.Errorf("read load result after line %d: %w", d.n, context.Cause(ctx))
		case errors.As(err, &broken):
			return d.out, fmt.Errorf("read load result after line %d: %w", d.n, broken.err)
		default:
			return d.out, fmt.Errorf("read load result: %w after line %d: %w", experiment.ErrIncomplete, d.n, err)
		}
	}
}

// errEnd says that the last line was read: the result is whole, and what the
// generator does from then on is no part of it.
var errEnd = errors.New("end of stream")

// streamError is a failure of the stream, which is no fault of what it carries.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }

// decoder is the state of one reading.
type decoder struct {
	in     *bufio.Reader
	sum    hash.Hash
	on     func(experiment.LoadEvent)
	n      int64 // lines read
	phase  experiment.Phase
	part   string
	shift  int64 // ms by which at_ms of slices is too large
	result bool
	out    experiment.LoadResult
}

// next reads one line.
func (d *decoder) next() error {
	raw, err := readLine(d.in)
	if err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil || m.N == 0 {
		return fmt.Errorf("not a line of the protocol: %s", d.quote(raw))
	}
	if m.N != d.n+1 {
		return fmt.Errorf("line %d follows", m.N)
	}
	if (m.Type == typeHello) != (m.N == 1) {
		return fmt.Errorf("line %d is of type %q", m.N, m.Type)
	}
	if d.result && m.Type != typeEnd {
		return fmt.Errorf("a line of type %q follows the result", m.Type)
	}
	if err := d.take(m); err != nil {
		return err
	}
	d.n++
	d.sum.Write(raw)
	if m.Type == typeEnd {
		return errEnd
	}
	return nil
}

func (d *decoder) take(m message) error {
	switch m.Type {
	case typeHello:
		if m.Protocol != Protocol {
			return fmt.Errorf("the generator speaks version %d of the protocol, and this ceteris version %d: both must be of one build", m.Protocol, Protocol)
		}
		return nil
	case typePhase:
		return d.takePhase(m)
	case typeSlices:
		return d.takeSlices(m)
	case typeShift:
		return d.takeShift(m)
	case typeHistograms:
		return d.takeHistograms(m)
	case typeResult:
		return d.takeResult(m.Result)
	case typeAbort:
		return fmt.Errorf("the generator gave up: %s", clip(m.Reason))
	case typeEnd:
		return d.takeEnd(m)
	default:
		return fmt.Errorf("unknown type of line %q", clip(m.Type))
	}
}

func (d *decoder) takePhase(m message) error {
	switch {
	case !slices.Contains(protocolPhases(), m.Phase):
		return fmt.Errorf("unknown phase %q", clip(string(m.Phase)))
	case !d.mayFollow(m):
		return fmt.Errorf("phase %q follows %q", clip(string(m.Phase)), d.phase)
	case m.Time.IsZero():
		return fmt.Errorf("phase %q has no time", m.Phase)
	}
	d.phase, d.part = m.Phase, m.Part
	d.tell(experiment.LoadEvent{Phase: m.Phase, Part: m.Part, At: m.Time})
	return nil
}

// protocolPhases are those that a generator tells of.
func protocolPhases() []experiment.Phase {
	return []experiment.Phase{experiment.PhaseRamp, experiment.PhaseWarmup, experiment.PhaseMeasure, experiment.PhaseDrain, experiment.PhaseDone}
}

// mayFollow reports whether a phase may come now. Those that the load declares have
// names, and there is nothing else before drain then.
func (d *decoder) mayFollow(m message) bool {
	if m.Part != "" {
		return (d.phase == "" || d.part != "") && (m.Phase == experiment.PhaseWarmup || m.Phase == experiment.PhaseMeasure)
	}
	if d.part != "" {
		return m.Phase == experiment.PhaseDrain
	}
	order := slices.Concat([]experiment.Phase{""}, protocolPhases())
	last, now := slices.Index(order, d.phase), slices.Index(order, m.Phase)
	optional := m.Phase == experiment.PhaseWarmup || m.Phase == experiment.PhaseMeasure // what comes before may be left out
	return now == last+1 || now > last && optional
}

// takeShift makes the window's begin known: at_ms counts from it.
func (d *decoder) takeShift(m message) error {
	if d.shift != 0 || m.ShiftMS <= 0 || d.phase != experiment.PhaseMeasure || d.part != "" {
		return fmt.Errorf("a shift by %d ms in phase %q", m.ShiftMS, d.phase)
	}
	d.shift = m.ShiftMS
	for i := range d.out.Series {
		d.out.Series[i].AtMS -= d.shift
	}
	return nil
}

func (d *decoder) takeSlices(m message) error {
	var points []experiment.SeriesPoint
	for _, t := range m.Series {
		if t.Metric == "" {
			return errors.New("a series has no metric")
		}
		for _, p := range t.Points {
			points = append(points, experiment.SeriesPoint{Service: t.Service, Metric: t.Metric, AtMS: p.at - d.shift, Value: p.value})
		}
	}
	if len(d.out.Series)+len(points) > maxPoints {
		return fmt.Errorf("more than %d points", maxPoints)
	}
	d.out.Series = append(d.out.Series, points...)
	d.tell(experiment.LoadEvent{At: m.Time, Series: points})
	return nil
}

func (d *decoder) takeHistograms(m message) error {
	if len(d.out.Histograms)+len(m.Hists) > maxHistograms {
		return fmt.Errorf("more than %d histograms", maxHistograms)
	}
	for _, h := range m.Hists {
		if h.Count < 0 || h.Overflow < 0 || h.Overflow > h.Count {
			return fmt.Errorf("a histogram of %d values, %d of them above its limit", h.Count, h.Overflow)
		}
		d.out.Histograms = append(d.out.Histograms, experiment.Histogram{
			Phase: h.Phase, Request: h.Request, Kind: h.Kind, Count: h.Count, Overflow: h.Overflow, Blob: h.HDR,
		})
	}
	return nil
}

func (d *decoder) takeResult(r *result) error {
	switch {
	case d.phase != experiment.PhaseDone:
		return fmt.Errorf("a result in phase %q", d.phase)
	case r == nil || r.WindowNS <= 0:
		return errors.New("a result without a window")
	}
	for _, o := range r.Observations {
		if o.Metric == "" {
			return errors.New("an observation has no metric")
		}
		d.out.Observations = append(d.out.Observations, experiment.Observation(o))
	}
	for _, p := range r.Parts {
		if p.Name == "" || p.Window <= 0 {
			return fmt.Errorf("a part %q of %s", clip(p.Name), p.Window)
		}
	}
	d.out.Window, d.out.Parts = time.Duration(r.WindowNS), r.Parts
	d.out.Statuses, d.out.Errors, d.out.Total, d.out.Requests = r.Statuses, r.Errors, r.Total, r.Requests
	d.result = true
	return nil
}

func (d *decoder) takeEnd(m message) error {
	switch sum := hex.EncodeToString(d.sum.Sum(nil)); {
	case !d.result:
		return errors.New("the end without a result")
	case m.Lines != d.n:
		return fmt.Errorf("the end counts %d lines", m.Lines)
	case m.SHA256 != sum:
		return fmt.Errorf("checksum %q instead of %q", clip(m.SHA256), sum)
	}
	return nil
}

func (d *decoder) tell(e experiment.LoadEvent) {
	if d.on != nil {
		d.on(e)
	}
}

// quote shows foreign output (the message of a crash, say): what was read of it
// and as much of what already follows as fits.
func (d *decoder) quote(read []byte) string {
	text := bytes.Clone(read[:min(len(read), maxQuote)])
	if room := maxQuote - len(text); room > 0 {
		rest, _ := d.in.Peek(min(room, d.in.Buffered())) // only what is there
		text = append(text, rest...)
	}
	return fmt.Sprintf("%q", bytes.TrimSpace(text))
}

// readLine gives a line with its newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case len(line)+len(part) > MaxLine:
			return nil, fmt.Errorf("a line of more than %d bytes", MaxLine)
		case err == nil:
			return append(line, part...), nil
		case ended(err) && len(line)+len(part) == 0:
			return nil, errors.New("the output ended before its last line")
		case ended(err):
			return nil, fmt.Errorf("the output ended inside a line: %q", clip(string(append(line, part...))))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, &streamError{err}
		}
		line = append(line, part...)
	}
}

// ended tells an end of the output from a failure to read it. Wrapped in another
// error, an end is that of something else: of the connection to an engine, say.
func ended(err error) bool {
	return err == io.EOF || err == io.ErrUnexpectedEOF //nolint:errorlint // the bare ones are meant
}

func clip(s string) string { return s[:min(len(s), maxQuote)] }
