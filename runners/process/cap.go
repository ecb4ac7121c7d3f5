package process

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// What a service has written stands whole on the disk until it is MostLog. From then
// on its middle is given back to the file system, again and again, and the beginning
// and the latest part stay. The file keeps its length, so that what was written is
// counted all the same; nothing stands between the service and the file, and the
// service is never held up.
const (
	// MostLog is how many bytes of the output of one service stand on the disk, beside
	// what it writes in a quarter of a second.
	MostLog = 256 << 20

	keptHead = 1 << 20
	keptTail = 64 << 20
	// capPoll is how often the length of the output is looked at.
	capPoll = 250 * time.Millisecond
	// holeUnit is what a hole begins and ends at: what file systems give back is whole
	// blocks.
	holeUnit = 64 << 10
)

// capping caps the files until quit is closed. A generator's output is a result and
// stays whole.
func (o *outputs) capping(s experiment.Service, quit <-chan struct{}, log *slog.Logger) {
	if s.Role == experiment.RoleLoad {
		return
	}
	ticks := time.NewTicker(capPoll)
	defer ticks.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticks.C:
		}
		for i := range o.paths {
			err := o.cut(i, MostLog, keptTail)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return
			case err != nil:
				log.Warn("the output of a service is not capped", "service", s.Name, "err", err)
				return
			}
		}
	}
}

// cut makes a hole in a file of which more than most bytes stand on the disk, up to
// the last tail bytes.
func (o *outputs) cut(i int, most, tail int64) error {
	info, err := os.Stat(o.paths[i])
	if err != nil {
		return err
	}
	from := max(o.hole(i), keptHead)
	if info.Size()-from+keptHead <= most {
		return nil
	}
	to := (info.Size() - tail) / holeUnit * holeUnit
	f, err := os.OpenFile(o.paths[i], os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// Whoever counts lines meanwhile must not take a hole for a part without any.
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from); err != nil {
		return &fs.PathError{Op: "give back a part of", Path: o.paths[i], Err: err}
	}
	o.holes[i] = to
	return nil
}

// cutBetween reports whether a part of a file is no longer there.
func (o *outputs) cutBetween(i int, from, to int64) bool {
	return o.hole(i) > from && to > keptHead && to > from
}

// hole gives where the hole of a file ends, which begins at keptHead; 0 if there is
// none.
func (o *outputs) hole(i int) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.holes[i]
}
