package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// outputs are the files into which a service writes. Nothing of ceteris stands
// between the two, so logging costs what it costs.
//
// Standard output and error share one file, which keeps their order, except for
// the generator: its standard output is read while it works and has a file of its
// own.
type outputs struct {
	paths   []string // standard output first
	writing []*os.File

	mu    sync.Mutex
	marks []outputMark // in order of time
	holes []int64      // where the hole of each file ends; see cut
}

// outputMark is how much had been written at a moment.
type outputMark struct {
	at    time.Time
	sizes []int64
}

func newOutputs(dir string, s experiment.Service) *outputs {
	base := filepath.Join(dir, s.Name)
	paths := []string{base + ".output"}
	if s.Role == experiment.RoleLoad {
		paths = []string{base + ".stdout", base + ".stderr"}
	}
	return &outputs{paths: paths, holes: make([]int64, len(paths))}
}

// attach creates the files and gives them to a command.
func (o *outputs) attach(cmd *exec.Cmd) error {
	for _, path := range o.paths {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return errors.Join(err, o.detach())
		}
		o.writing = append(o.writing, f)
	}
	cmd.Stdout, cmd.Stderr = o.writing[0], o.writing[len(o.writing)-1]
	o.marks = append(o.marks, outputMark{at: time.Now(), sizes: make([]int64, len(o.paths))})
	return nil
}

// detach closes this side of the files.
func (o *outputs) detach() error {
	var errs []error
	for _, f := range o.writing {
		errs = append(errs, f.Close())
	}
	o.writing = nil
	return errors.Join(errs...)
}

func (o *outputs) remove() error {
	for _, path := range o.paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// mark notes how much has been written by now.
func (o *outputs) mark(at time.Time) error {
	m := outputMark{at: at}
	for _, path := range o.paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		m.sizes = append(m.sizes, info.Size())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.marks = append(o.marks, m)
	return nil
}

// nearest gives the mark whose moment is nearest.
func (o *outputs) nearest(at time.Time) outputMark {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.MinFunc(o.marks, func(a, b outputMark) int {
		return int(a.at.Sub(at).Abs() - b.at.Sub(at).Abs())
	})
}

// last gives the last lines of the output for a message, or nothing.
func (o *outputs) last() string {
	const most, lines = 400, 3
	var tail []string
	for _, path := range o.paths {
		b, err := readTail(path, most)
		if err != nil {
			continue // a message is no place to complain
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(b), ""))
		if len(b) == most {
			text = "..." + text
		}
		all := strings.Split(text, "\n")
		tail = append(tail, all[max(0, len(all)-lines):]...)
	}
	return strings.Trim(strings.Join(tail, " | "), " |")
}

// readTail gives the last bytes of a file, most of them at the most. The file may
// be of any size, and may be growing.
func readTail(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}

// LogVolume implements experiment.LogMeter. The counts are those between the
// readings of Usage that are nearest to the two moments. Lines are not known where a
// part of them is no longer there.
func (p *proc) LogVolume(_ context.Context, from, to time.Time) (experiment.LogVolume, error) {
	a, b := p.files.nearest(from), p.files.nearest(to)
	var v experiment.LogVolume
	whole := true
	for i, path := range p.files.paths {
		v.Bytes += b.sizes[i] - a.sizes[i]
		if p.files.cutBetween(i, a.sizes[i], b.sizes[i]) {
			whole = false
			continue
		}
		lines, err := countLines(path, a.sizes[i], b.sizes[i])
		if err != nil {
			return experiment.LogVolume{}, fmt.Errorf("count output of service %s: %w", p.service.Name, err)
		}
		v.Lines += lines
		whole = whole && !p.files.cutBetween(i, a.sizes[i], b.sizes[i]) // meanwhile
	}
	if !whole {
		v.Lines = -1
	}
	return v, nil
}

// countLines counts the line ends of a part of a file.
func countLines(path string, from, to int64) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	part := io.NewSectionReader(f, from, to-from)
	buf := make([]byte, 64<<10)
	for lines := int64(0); ; {
		n, err := part.Read(buf)
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// Logs implements experiment.Proc. A generator's output is not interleaved:
// standard output comes first. Only a generator's can be followed.
func (p *proc) Logs(ctx context.Context, follow bool) (io.ReadCloser, error) {
	if follow && p.service.Role != experiment.RoleLoad {
		return nil, fmt.Errorf("follow output of service %s: only a generator's can be followed", p.service.Name)
	}
	if follow {
		return p.followAll(ctx)
	}
	var all joined
	for _, path := range p.files.paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read output of service %s: %w", p.service.Name, err), all.Close())
		}
		all.files = append(all.files, f)
		all.readers = append(all.readers, f)
	}
	all.Reader = io.MultiReader(all.readers...)
	return &all, nil
}

// followAll reads the first file until the service ends: all output of a service that
// is no generator.
func (p *proc) followAll(ctx context.Context) (io.ReadCloser, error) {
	f, err := os.Open(p.files.paths[0])
	if err != nil {
		return nil, fmt.Errorf("follow output of service %s: %w", p.service.Name, err)
	}
	return &follower{ctx: ctx, file: f, ended: p.ended}, nil
}

// joined reads files one after the other.
type joined struct {
	io.Reader
	readers []io.Reader
	files   []*os.File
}

func (j *joined) Close() error {
	var errs []error
	for _, f := range j.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// followPoll is how often a file is looked at that is being written.
const followPoll = 10 * time.Millisecond

// follower reads a file until its writer has ended. It belongs to one reader.
type follower struct {
	ctx   context.Context // io.Reader has no place for one
	file  *os.File
	ended <-chan struct{}
}

func (f *follower) Read(b []byte) (int, error) {
	for {
		last := false
		select {
		case <-f.ended:
			last = true // what there is to read is all there will be
		default:
		}
		n, err := f.file.Read(b)
		if n > 0 || last || !errors.Is(err, io.EOF) {
			return n, err
		}
		select {
		case <-f.ended:
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-time.After(followPoll):
		}
	}
}

func (f *follower) Close() error { return f.file.Close() }
