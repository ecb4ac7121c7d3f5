package conduct

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// logKeep is how much is kept of the beginning and of the end of a log, in bytes.
const logKeep = 256 << 10

// countTimeout bounds the counting of all logs of a run, which its hard limit holds
// among the slack.
const countTimeout = 20 * time.Second

// keepTimeout bounds the keeping of one log.
const keepTimeout = 10 * time.Second

func logsOf(p experiment.Proc) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return p.Logs(ctx, false) }
}

// lastWords gives the last line that a service has written, to stand behind the news of
// its end; empty if there is none.
func (r *oneRun) lastWords(ctx context.Context, service string) string {
	proc, ok := r.proc(service)
	if !ok {
		return ""
	}
	body, _, err := ends(context.WithoutCancel(ctx), proc)
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	last := lines[len(lines)-1]
	if err != nil || last == "" || strings.HasPrefix(last, "{") { // a line of the protocol is none
		return ""
	}
	return "; it said: " + last
}

// keepLogs takes the first and last part of every service's log. The generator's
// output is the result itself and is kept only where it gave none.
func (r *oneRun) keepLogs(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, name := range slices.Sorted(maps.Keys(r.began)) {
		proc, ok := r.proc(name)
		if !ok || name == experiment.GeneratorName && r.outcome.Result.Window > 0 {
			continue
		}
		body, full, err := ends(ctx, proc)
		if err != nil {
			r.Log.Warn("log not kept", "run", r.outcome.Run.ID, "service", name, "err", err)
			continue
		}
		if len(body) > 0 {
			r.outcome.Artifacts = append(r.outcome.Artifacts, experiment.Artifact{Service: name, Name: "log", Body: body, Full: full})
		}
	}
}

// ends gives what is kept of a log, and its whole length if that is known.
func ends(ctx context.Context, p experiment.Proc) (body []byte, full int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	var e experiment.LogEnds
	if ender, ok := p.(experiment.LogEnder); ok {
		e, err = ender.LogEnds(ctx, logKeep)
	} else {
		e, err = readEnds(ctx, p)
	}
	if err != nil {
		return nil, 0, err
	}
	if e.Cut {
		e.Head = append(e.Head, experiment.CutMark...)
	}
	return append(e.Head, e.Tail...), e.Full, nil
}

// readEnds reads the whole log for its ends.
func readEnds(ctx context.Context, p experiment.Proc) (e experiment.LogEnds, err error) {
	logs, err := p.Logs(ctx, false)
	if err != nil {
		return e, err
	}
	defer logs.Close()
	e.Head, err = io.ReadAll(io.LimitReader(logs, logKeep))
	if err != nil {
		return e, err
	}
	e.Full = int64(len(e.Head))
	var older, newer []byte // the tail is within the last two blocks
	for {
		block := make([]byte, logKeep)
		n, err := io.ReadFull(logs, block)
		if n > 0 {
			e.Full += int64(n)
			older, newer = newer, block[:n]
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return e, err
		}
	}
	tail := append(older, newer...)
	e.Tail = tail[max(len(tail)-logKeep, 0):]
	e.Cut = e.Full > int64(len(e.Head)+len(e.Tail))
	return e, nil
}

// measureLogs counts what each service wrote in the window, by request done. It
// is asked after the load, never under it. What cannot be counted in time, or was
// lost to a cap, is not known.
func (r *oneRun) measureLogs(ctx context.Context) {
	from, to, ok := r.counters.window()
	done, counted := r.outcome.Observed("requests_done")
	if !ok || !counted || done <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	volumes := map[string]experiment.LogVolume{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, proc := range r.procs {
		meter, ok := proc.(experiment.LogMeter)
		if !ok {
			continue
		}
		all.Go(func() {
			v, err := meter.LogVolume(ctx, from, to)
			if err != nil {
				r.Log.Warn("log not counted", "run", r.outcome.Run.ID, "service", name, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			volumes[name] = v
		})
	}
	all.Wait()
	for _, name := range slices.Sorted(maps.Keys(volumes)) {
		v := volumes[name]
		r.observe(name+".log_bytes", experiment.PhaseMeasure, float64(v.Bytes)/done, experiment.UnitBytes)
		if v.Lines >= 0 {
			r.observe(name+".log_lines", experiment.PhaseMeasure, float64(v.Lines)/done, experiment.UnitCount)
		}
	}
}
