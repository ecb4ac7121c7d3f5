package conduct

import (
	"context"
	"io"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// logKeep is how much is kept of the beginning and of the end of a log, in bytes.
const logKeep = 256 << 10

// logsTimeout bounds the reading of one log after a run.
const logsTimeout = 30 * time.Second

func logsOf(p experiment.Proc) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return p.Logs(ctx, false) }
}

// keepLogs takes the first and last part of every service's log. The generator's
// output is the result itself and is kept only where it gave none.
func (r *oneRun) keepLogs(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, name := range r.names() {
		if name == experiment.GeneratorName && r.outcome.Result.Window > 0 {
			continue
		}
		body, full, err := headAndTail(ctx, r.procs[name])
		if err != nil {
			r.Log.Warn("log not kept", "run", r.outcome.Run.ID, "service", name, "err", err)
			continue
		}
		if full > 0 {
			r.outcome.Artifacts = append(r.outcome.Artifacts, experiment.Artifact{Service: name, Name: "log", Body: body, Full: full})
		}
	}
}

func headAndTail(ctx context.Context, p experiment.Proc) (body []byte, full int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, logsTimeout)
	defer cancel()
	logs, err := p.Logs(ctx, false)
	if err != nil {
		return nil, 0, err
	}
	defer logs.Close()
	head, err := io.ReadAll(io.LimitReader(logs, logKeep))
	if err != nil {
		return nil, 0, err
	}
	full = int64(len(head))
	var older, newer []byte // the tail is within the last two blocks
	for {
		block := make([]byte, logKeep)
		n, err := io.ReadFull(logs, block)
		if n > 0 {
			full += int64(n)
			older, newer = newer, block[:n]
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	tail := append(older, newer...)
	tail = tail[max(len(tail)-logKeep, 0):]
	if full > int64(len(head)+len(tail)) {
		head = append(head, "\n[...]\n"...)
	}
	return append(head, tail...), full, nil
}

// measureLogs counts what each service wrote in the window, by request done. It
// is asked after the load, never under it.
func (r *oneRun) measureLogs(ctx context.Context, s *sampler) {
	from, to, ok := s.window()
	done, counted := r.outcome.Observed("requests_done")
	if !ok || !counted || done <= 0 {
		return
	}
	for _, name := range r.names() {
		meter, ok := r.procs[name].(experiment.LogMeter)
		if !ok {
			continue
		}
		v, err := logVolume(ctx, meter, from, to)
		if err != nil {
			r.Log.Warn("log not counted", "run", r.outcome.Run.ID, "service", name, "err", err)
			continue
		}
		r.observe(name+".log_bytes", experiment.PhaseMeasure, float64(v.Bytes)/done, experiment.UnitBytes)
		r.observe(name+".log_lines", experiment.PhaseMeasure, float64(v.Lines)/done, experiment.UnitCount)
	}
}

func logVolume(ctx context.Context, m experiment.LogMeter, from, to time.Time) (experiment.LogVolume, error) {
	ctx, cancel := context.WithTimeout(ctx, logsTimeout)
	defer cancel()
	return m.LogVolume(ctx, from, to)
}
