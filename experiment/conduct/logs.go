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

// keepLogs takes the first and last part of every service's log. The output of ceteris'
// own generator is the result itself and is kept only where it gave none; that of
// another one is kept by itself.
func (r *oneRun) keepLogs(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, name := range slices.Sorted(maps.Keys(r.began)) {
		proc, ok := r.proc(name)
		own := name == experiment.GeneratorName && r.plan.Load.External == nil
		if !ok || own && r.outcome.Result.Window > 0 {
			continue
		}
		body, full, err := ends(ctx, proc)
		if err != nil {
			r.Log.Warn("log not kept", "run", r.outcome.Run.ID, "service", name, "err", err)
			continue
		}
		if len(body) > 0 && !r.isOutput(name, full) {
			r.outcome.Artifacts = append(r.outcome.Artifacts, experiment.Artifact{Service: name, Name: "log", Body: body, Full: full})
		}
	}
}

// isOutput reports whether a log is nothing but the output that was kept.
func (r *oneRun) isOutput(name string, full int64) bool {
	return name == experiment.GeneratorName && slices.ContainsFunc(r.outcome.Artifacts, func(a experiment.Artifact) bool {
		return a.Service == name && a.Name == outputName && a.Full == full
	})
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
	return joined(e), e.Full, nil
}

// joined is what is kept of a text, with a mark where something was left out.
func joined(e experiment.LogEnds) []byte {
	if e.Cut {
		e.Head = append(e.Head, experiment.CutMark...)
	}
	return append(e.Head, e.Tail...)
}

// readEnds reads the whole log for its ends.
func readEnds(ctx context.Context, p experiment.Proc) (experiment.LogEnds, error) {
	logs, err := p.Logs(ctx, false)
	if err != nil {
		return experiment.LogEnds{}, err
	}
	defer logs.Close()
	var kept endsKeeper
	_, err = io.Copy(&kept, logs)
	return kept.ends(), err
}

// endsKeeper keeps the beginning and the end of what is written to it, logKeep bytes of
// each.
type endsKeeper struct {
	head, tail []byte // tail is cut now and then
	full       int64
}

// Write implements io.Writer.
func (k *endsKeeper) Write(b []byte) (int, error) {
	n := len(b)
	k.full += int64(n)
	first := min(logKeep-len(k.head), n)
	k.head, b = append(k.head, b[:first]...), b[first:]
	k.tail = append(k.tail, b...)
	if len(k.tail) > 2*logKeep {
		k.tail = append(k.tail[:0], k.tail[len(k.tail)-logKeep:]...)
	}
	return n, nil
}

func (k *endsKeeper) ends() experiment.LogEnds {
	tail := k.tail[max(len(k.tail)-logKeep, 0):]
	return experiment.LogEnds{Head: k.head, Tail: tail, Full: k.full, Cut: k.full > int64(len(k.head)+len(tail))}
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
