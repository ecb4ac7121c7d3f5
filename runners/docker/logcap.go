package docker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// What a container writes is rotated by the engine: the oldest of logFiles files goes
// when the newest is logFile long. A service that floods its log cannot fill the disk,
// and what it wrote in a window is counted as long as all of it is still there. A
// service at 10 MB/s gets there in a minute and a half.
const (
	// MostLog is about how many bytes the log of one container takes on the engine's
	// disk.
	MostLog = logFile * logFiles

	logFile  = 256 << 20
	logFiles = 4
)

func logConfig() container.LogConfig {
	return container.LogConfig{Type: "json-file", Config: map[string]string{
		"max-size": strconv.Itoa(logFile), "max-file": strconv.Itoa(logFiles), "mode": "blocking",
	}}
}

// errRotated says that nobody knows what a service wrote.
var errRotated = errors.New("its log was rotated, and lines of the window are gone")

// checkRotated fails if lines from the given moment on may be gone. A line from before
// it that is still there proves that none is; without one, the log must be too short
// for a rotation.
func (p *proc) checkRotated(ctx context.Context, from time.Time) error {
	first, found, err := p.firstLine(ctx)
	if err != nil || !found || first.Before(from) {
		return err
	}
	all, err := p.countBetween(ctx, first, time.Now().Add(time.Hour))
	if err != nil {
		return err
	}
	if mostOnDisk(all) >= logFile {
		return errRotated
	}
	return nil
}

// leastRotated is how much is still there of a log of which a file was dropped.
const leastRotated = logFile * (logFiles - 1)

// errHeadGone says that what is left of an output may be no more than its end.
var errHeadGone = fmt.Errorf("it fills %d MiB of the engine's log and more, and the engine may have dropped the first of it: let it write to a file, and name that as output", leastRotated>>20)

// diskSize sums up how long at most what is written to it is as the engine writes it,
// where each call is one message.
type diskSize int64

func (d *diskSize) Write(b []byte) (int, error) {
	n := len(b) + 128
	for _, c := range b {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r':
			n++
		case c < ' ' || c == '<' || c == '>' || c == '&' || c >= 0x80:
			n += 5
		}
	}
	*d += diskSize(n)
	return len(b), nil
}

// mostOnDisk is how long a log may be as the engine writes it: JSON, with up to six
// bytes for one, and under 128 around each line.
func mostOnDisk(v experiment.LogVolume) int64 { return 6*v.Bytes + 128*(v.Lines+1) }

// firstLine gives the time of the oldest line that is there.
func (p *proc) firstLine(ctx context.Context) (at time.Time, found bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := p.api.ContainerLogs(ctx, p.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true})
	if err != nil {
		return at, false, err
	}
	defer func() { _ = res.Close() }() // only read
	var header [8]byte
	if _, err := io.ReadFull(res, header[:]); errors.Is(err, io.EOF) {
		return at, false, nil
	} else if err != nil {
		return at, false, err
	}
	message := make([]byte, min(binary.BigEndian.Uint32(header[4:]), uint32(len(time.RFC3339Nano)+1)))
	if _, err := io.ReadFull(res, message); err != nil {
		return at, false, err
	}
	at, _, err = stamped(message)
	return at, true, err
}
