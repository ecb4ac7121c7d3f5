package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/ceteris/ceteris/experiment/conduct"
)

// maxRunLog is the size in bytes above which a log begins anew.
const maxRunLog = 1 << 20

// logOf is the path of the log beside a database.
func logOf(database string) string { return database + ".log" }

// openRunLog opens the log beside a database, to append to it.
func openRunLog(database string) (*os.File, error) {
	path, flags := logOf(database), os.O_WRONLY|os.O_CREATE|os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxRunLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o644)
}

// logBeside makes what is logged, from info on, go to a file beside the database
// too, until it is closed: a sweep goes on when nobody listens to its standard
// error any more. Without that file the sweep goes on as well.
func (a *app) logBeside(database string) io.Closer {
	f, err := openRunLog(database)
	if err != nil {
		a.log.Warn("no log beside the database", "err", err)
		return io.NopCloser(nil)
	}
	file := a.err.hide.handler(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelInfo}))
	a.log = slog.New(slog.NewMultiHandler(a.log.Handler(), file))
	a.log.Info("ceteris run", "version", version, "pid", os.Getpid(), "command", os.Args)
	return f
}

// logged logs the events of a sweep on their way to who shows them.
func (a *app) logged(show func(conduct.Event)) func(conduct.Event) {
	return func(e conduct.Event) {
		switch e.Kind {
		case conduct.EventSweep:
			a.log.Info("sweep", "sweep", e.Sweep, "continued", e.Continued, "images_differ", e.ImagesDiffer)
		case conduct.EventRunEnded:
			a.log.Info("run ended", "sweep", e.Sweep, "run", e.Run.ID, "cell", nameOf(e.Cell), "round", e.Round,
				"state", e.Run.State, "reason", e.Run.Reason, "progress", fmt.Sprintf("%d/%d", e.Done, e.Total))
		case conduct.EventRound:
			a.log.Info("round done", "sweep", e.Sweep, "stage", e.Stage, "round", e.Round)
		case conduct.EventEnough:
			a.log.Info("rounds are enough", "sweep", e.Sweep, "stage", e.Stage, "round", e.Round, "at_most", e.Rounds)
		case conduct.EventSnapshot:
			a.log.Info("volumes filled", "sweep", e.Sweep, "run", e.Run.ID, "service", e.Service, "restored", e.Restored)
		case conduct.EventPreparing, conduct.EventRunBegan, conduct.EventEngineGone, conduct.EventEngineBack: // the conductor logs the last two
		}
		show(e)
	}
}
