package conduct

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// outputName is the artifact that holds what a load generator of others wrote as its
// result.
const outputName = "output"

// external drives the load by a load generator of others: it is launched, waited for to
// its end, and its output read. The window is the declared part of the time in which it
// works, or all of that.
func (r *oneRun) external(ctx context.Context) error {
	x := r.plan.Load.External
	svc, err := r.addressed(x.Service)
	if err != nil {
		return err
	}
	svc.Job = true // it ends by itself, and its counters are read until then
	return r.underLoad(ctx, svc, func(ctx context.Context, proc experiment.Proc, mark marker) error {
		span, exit, err := r.attend(ctx, time.Now(), mark)
		if err == nil {
			err = r.understand(ctx, proc, span, exit)
		}
		if err != nil {
			return r.whyNot(ctx, err)
		}
		r.counters.observe(r.observe)
		return nil
	})
}

// attend waits for the end of the generator, tells of the phases when they begin, and
// gives the window.
func (r *oneRun) attend(ctx context.Context, began time.Time, mark marker) (experiment.Span, experiment.Exit, error) {
	l := r.plan.Load
	limit := began.Add(l.External.Within)
	until := func(at time.Time) (experiment.Exit, bool) {
		return r.watch.endOf(ctx, experiment.GeneratorName, time.Until(at))
	}
	span := experiment.Span{Begin: began.Add(l.Warmup), End: limit}
	if l.Measure > 0 {
		span.End = span.Begin.Add(l.Measure)
	}
	if l.Warmup > 0 {
		mark(experiment.LoadEvent{Phase: experiment.PhaseWarmup, At: began}, false, false)
		if exit, ended := until(span.Begin); ended {
			return span, exit, fmt.Errorf("the load generator ended with %d after %v, before the window began", exit.Code, exit.At.Sub(began).Round(time.Millisecond))
		}
	}
	if err := r.unattended(ctx); err != nil {
		return span, experiment.Exit{}, err
	}
	mark(experiment.LoadEvent{Phase: experiment.PhaseMeasure, At: span.Begin}, true, false)
	exit, ended := until(span.End)
	if ended && exit.At.Before(span.End) {
		span.End = exit.At
		if span.End.Before(span.Begin) { // it had ended when it was launched
			span.End = time.Now()
		}
	}
	if err := r.unattended(ctx); err != nil {
		return span, exit, err
	}
	mark(experiment.LoadEvent{Phase: experiment.PhaseDrain, At: span.End}, false, true)
	if !ended {
		exit, ended = until(limit)
	}
	if err := r.unattended(ctx); err != nil {
		return span, exit, err
	}
	if !ended {
		return span, exit, fmt.Errorf("the load generator did not end within %v", l.External.Within)
	}
	return span, exit, nil
}

// unattended says why the generator cannot be waited for any more, if so.
func (r *oneRun) unattended(ctx context.Context) error { return cmp.Or(ctx.Err(), r.outOfSight()) }

// understand reads the output of the generator and keeps what it tells. Of one that was
// cut off what could be read is kept, too.
func (r *oneRun) understand(ctx context.Context, proc experiment.Proc, span experiment.Span, exit experiment.Exit) error {
	l := r.plan.Load
	rows := experiment.Span{} // of requests that count: all, unless the matrix leaves some out
	switch {
	case l.Measure > 0:
		rows = span
	case l.Warmup > 0:
		rows.Begin = span.Begin
	}
	result, err := r.readOutput(ctx, proc, rows)
	cutOff := errors.Is(err, experiment.ErrIncomplete) && len(result.Observations) > 0
	if err != nil && !cutOff {
		return fmt.Errorf("the load generator ended with %d: %w", exit.Code, err)
	}
	result.Notes = append(result.Notes, remarks(l, span, exit, err)...)
	result.Notes = append(result.Notes, twoWindows(l, span, result.Window)...)
	if result.Window == 0 {
		result.Window = span.End.Sub(span.Begin)
	}
	r.keep(result)
	if err != nil {
		r.Log.Error("the generator's result is incomplete", "run", r.outcome.Run.ID, "err", err)
		return &failure{experiment.StateInvalid, "result-incomplete"}
	}
	return nil
}

// remarks is what the way in which the generator ended has to do with its result.
func remarks(l experiment.Load, span experiment.Span, exit experiment.Exit, incomplete error) []experiment.LoadNote {
	var out []experiment.LoadNote
	if incomplete != nil {
		out = append(out, experiment.LoadNote{Severity: experiment.SeverityWarn, Text: incomplete.Error()})
	}
	if exit.Code != 0 {
		out = append(out, experiment.LoadNote{Severity: experiment.SeverityNote, Text: fmt.Sprintf("it ended with exit code %d", exit.Code)})
	}
	length := span.End.Sub(span.Begin)
	if short := l.Measure - length; l.Measure > 0 && float64(short) > slip*float64(l.Measure) {
		out = append(out, experiment.LoadNote{Severity: experiment.SeverityWarn, Text: fmt.Sprintf(
			"it ended %v before the window of %v did", short.Round(time.Millisecond), l.Measure)})
	}
	return out
}

// twoWindowsAbove is the share by which the window of a tool may differ from the time in
// which it worked.
const twoWindowsAbove = 0.05

// twoWindows warns of a result of another window than the counters of services: without a
// declared one these run from the launch of the tool to its end. A tool that does not tell
// its own window is taken at its word.
func twoWindows(l experiment.Load, span experiment.Span, told time.Duration) []experiment.LoadNote {
	length := span.End.Sub(span.Begin)
	if l.Measure > 0 || told == 0 || float64((told-length).Abs()) <= twoWindowsAbove*float64(length) {
		return nil
	}
	return []experiment.LoadNote{{Severity: experiment.SeverityWarn, Text: fmt.Sprintf(
		"its result is of %v, and the counters of services are of the %v in which it worked: declare warmup and measure, and both are of one window",
		told.Round(time.Millisecond), length.Round(time.Millisecond))}}
}

// whyNot says what kept the load from giving a result: a service that ended by itself,
// where there is one, and else the generator, with its last words.
func (r *oneRun) whyNot(ctx context.Context, err error) error {
	var f *failure
	over := ctx.Err()
	if over == nil && !errors.As(err, &f) { // what ended the generator may be what ends a service
		r.watch.someEnd(ctx, settle)
	}
	if ended := r.endedUnderLoad(); ended != nil {
		return ended
	}
	if over != nil || f != nil {
		return err
	}
	return &failure{experiment.StateFailedInfra, err.Error() + r.lastWords(ctx, experiment.GeneratorName)}
}

// readOutput reads the result by the reader of the tool, or by what the matrix takes out
// of it, and keeps its ends as an artifact.
func (r *oneRun) readOutput(ctx context.Context, proc experiment.Proc, span experiment.Span) (experiment.LoadResult, error) {
	x := r.plan.Load.External
	out, err := openOutput(ctx, proc, x.Service.Output)
	if err != nil {
		return experiment.LoadResult{}, err
	}
	defer out.Close()
	var kept endsKeeper
	whole := io.TeeReader(out, &kept)
	var result experiment.LoadResult
	if reader := r.Readers[x.Reader]; reader != nil {
		result, err = reader.ReadOutput(whole, span)
	} else {
		result, err = taken(x, whole)
	}
	if _, rest := io.Copy(io.Discard, whole); rest != nil && !errors.Is(err, rest) {
		err = errors.Join(err, fmt.Errorf("read the output: %w", rest))
	}
	if ends := kept.ends(); ends.Full > 0 {
		r.outcome.Artifacts = append(r.outcome.Artifacts, experiment.Artifact{
			Service: experiment.GeneratorName, Name: outputName, Body: joined(ends), Full: ends.Full,
		})
	}
	return result, err
}

// openOutput gives what the generator wrote to the file, or to its standard output.
func openOutput(ctx context.Context, proc experiment.Proc, file string) (io.ReadCloser, error) {
	if file == "" {
		return proc.Logs(ctx, true) // standard output alone, to its end
	}
	files, ok := proc.(experiment.Execer)
	if !ok {
		return nil, fmt.Errorf("read its output %s: files cannot be read here", file)
	}
	path := file
	if places, ok := proc.(experiment.Resolver); ok {
		if own, ok := places.Resolve(experiment.Ref{Kind: experiment.RefFile, Name: file}); ok {
			path = own
		}
	}
	body, err := files.ReadFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("read its output: %w", err)
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}
