package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// Logs gives what the service wrote: everything so far, both outputs in the order
// in which the engine saw them, or, following, standard output alone until the
// container ends. The reader must be closed.
func (p *proc) Logs(ctx context.Context, follow bool) (io.ReadCloser, error) {
	if !follow {
		return p.output(ctx)
	}
	return p.pipe(ctx, p.follow), nil
}

func (p *proc) output(ctx context.Context) (io.ReadCloser, error) {
	return p.pipe(ctx, func(ctx context.Context, w io.Writer) error {
		return p.copyLogs(ctx, w, w, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	}), nil
}

// followAll is output, and whatever comes until the container ends.
func (p *proc) followAll(ctx context.Context) (io.ReadCloser, error) {
	return p.pipe(ctx, func(ctx context.Context, w io.Writer) error {
		return p.copyLogs(ctx, w, w, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	}), nil
}

// pipe gives what write writes; closing the reader ends write.
func (p *proc) pipe(ctx context.Context, write func(context.Context, io.Writer) error) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		err := write(ctx, w)
		if err != nil {
			err = fmt.Errorf("logs of service %s: %w", p.service.Name, err)
		}
		_ = w.CloseWithError(err) // never fails
	}()
	return pipeReader{r, cancel, done}
}

type pipeReader struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   <-chan struct{}
}

func (r pipeReader) Close() error {
	r.cancel()
	err := r.PipeReader.Close()
	<-r.done
	return err
}

// copyLogs copies one answer of the engine to its end.
func (p *proc) copyLogs(ctx context.Context, stdout, stderr io.Writer, o client.ContainerLogsOptions) error {
	res, err := p.api.ContainerLogs(ctx, p.id, o)
	if err != nil {
		return err
	}
	defer func() { _ = res.Close() }() // only read
	_, err = stdcopy.StdCopy(stdout, stderr, res)
	return err
}

// follow copies standard output until the container has ended. The engine's
// stream may break off, or end before its last lines: so it is taken up again,
// and after the end the whole is read once more for what is missing. It fails where
// the first of it may be gone by then.
func (p *proc) follow(ctx context.Context, w io.Writer) error {
	const mostFaults = 3
	out := &resumed{w: w}
	for faults := 0; ; {
		_, ended, _ := p.end()
		out.seen = 0
		before := out.sent
		var kept diskSize
		err := p.copyLogs(ctx, io.MultiWriter(&kept, out), &kept, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: ended, Follow: !ended})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.ErrClosedPipe):
			return err // nobody reads
		case ended && err == nil && int64(kept) >= leastRotated:
			return errHeadGone
		case ended && err == nil:
			return nil
		case err != nil && out.sent == before:
			if faults++; faults >= mostFaults {
				return err
			}
		default:
			faults = 0
		}
		select { // the end is announced a moment after the stream's
		case <-p.ended:
			if p.lost != nil {
				return p.lost
			}
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resumed passes on a stream that is read again from its start without repeating
// what was passed on before.
type resumed struct {
	w          io.Writer
	sent, seen int64
}

func (r *resumed) Write(b []byte) (int, error) {
	n := len(b)
	skip := min(max(r.sent-r.seen, 0), int64(n))
	r.seen += int64(n)
	if fresh := b[skip:]; len(fresh) > 0 {
		if _, err := r.w.Write(fresh); err != nil {
			return 0, err
		}
		r.sent += int64(len(fresh))
	}
	return n, nil
}

// LogVolume counts what was written from one moment, inclusive, to another,
// exclusive, by the engine's clock: bytes as the service wrote them, and ends of
// lines. It fails where a part of them may be gone.
func (p *proc) LogVolume(ctx context.Context, from, to time.Time) (experiment.LogVolume, error) {
	v, err := p.countBetween(ctx, from, to)
	if err == nil {
		err = p.checkRotated(ctx, from)
	}
	if err != nil {
		return experiment.LogVolume{}, fmt.Errorf("log volume of service %s: %w", p.service.Name, err)
	}
	return v, nil
}

func (p *proc) countBetween(ctx context.Context, from, to time.Time) (experiment.LogVolume, error) {
	res, err := p.api.ContainerLogs(ctx, p.id, client.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true, Timestamps: true, Since: stamp(from), Until: stamp(to),
	})
	if err != nil {
		return experiment.LogVolume{}, err
	}
	defer func() { _ = res.Close() }() // only read
	return countLog(res, from, to)
}

// stamp writes a time as the engine's API reads it, to the nanosecond.
func stamp(t time.Time) string {
	return strconv.FormatInt(t.Unix(), 10) + "." + fmt.Sprintf("%09d", t.Nanosecond())
}

// countLog reads the engine's frames: a byte for the stream, three of padding,
// four of length, then one message, "TIME TEXT", or a part of a very long line.
func countLog(r io.Reader, from, to time.Time) (experiment.LogVolume, error) {
	var v experiment.LogVolume
	frames := bufio.NewReaderSize(r, 64<<10)
	var header [8]byte
	var message bytes.Buffer
	for {
		if _, err := io.ReadFull(frames, header[:]); errors.Is(err, io.EOF) {
			return v, nil
		} else if err != nil {
			return v, err
		}
		size := int64(binary.BigEndian.Uint32(header[4:]))
		if header[0] == byte(stdcopy.Systemerr) {
			text, err := io.ReadAll(io.LimitReader(frames, size))
			return v, errors.Join(fmt.Errorf("the engine says: %s", text), err)
		}
		message.Reset()
		if _, err := io.CopyN(&message, frames, size); err != nil {
			return v, err
		}
		when, text, err := stamped(message.Bytes())
		if err != nil {
			return v, err
		}
		if when.Before(from) || !when.Before(to) {
			continue
		}
		v.Bytes += int64(len(text))
		if bytes.HasSuffix(text, []byte("\n")) {
			v.Lines++
		}
	}
}

// stamped takes a message of the engine apart.
func stamped(message []byte) (at time.Time, text []byte, err error) {
	stamp, text, ok := bytes.Cut(message, []byte(" "))
	at, err = time.Parse(time.RFC3339Nano, string(stamp))
	if !ok || err != nil {
		return at, nil, fmt.Errorf("a message without time: %.80q", message)
	}
	return at, text, nil
}
