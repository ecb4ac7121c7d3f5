package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// proc is a service in its container.
type proc struct {
	env     *env
	api     client.APIClient
	service experiment.Service
	name    string // of the container; empty until it is asked for
	id      string // empty until it was made
	started bool

	pid       int            // of its first process, by the engine's count
	ip        string         // on the run's network; empty if it ended at once
	published map[int]string // HOST:PORT by declared port, if the container cannot be dialled

	stopWatch context.CancelFunc
	ended     chan struct{} // closed when exit and lost are known
	exit      experiment.Exit
	lost      error // the end cannot be known: the engine stopped answering

	readings lastReading // of a job
}

var (
	_ experiment.Proc     = (*proc)(nil)
	_ experiment.Execer   = (*proc)(nil)
	_ experiment.LogMeter = (*proc)(nil)
	_ experiment.Resolver = (*proc)(nil)
)

// watch waits for the end of the container.
func (p *proc) watch(ctx context.Context) {
	defer close(p.ended)
	wait := p.api.ContainerWait(ctx, p.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-wait.Error:
		p.lost = fmt.Errorf("watch service %s: %w", p.service.Name, err)
	case res := <-wait.Result:
		p.exit = experiment.Exit{Code: int(res.StatusCode), At: time.Now()}
		p.inspectEnd(ctx)
	}
}

// inspectEnd learns when the container ended, and whether for lack of memory. The
// engine hears of that from elsewhere than of the end, and at times later: a container
// with a limit that was killed is looked at for a while.
func (p *proc) inspectEnd(ctx context.Context) {
	const killed, patience = 137, 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	for began := time.Now(); ; {
		seen, err := p.api.ContainerInspect(ctx, p.id, client.ContainerInspectOptions{})
		if err != nil || seen.Container.State == nil {
			return // removed at the same moment: the code is all there is
		}
		p.exit.OOMKilled = seen.Container.State.OOMKilled
		if at, err := time.Parse(time.RFC3339Nano, seen.Container.State.FinishedAt); err == nil {
			p.exit.At = at
		}
		suspected := p.exit.Code == killed && p.service.Limits.Memory > 0 && !p.exit.OOMKilled
		if !suspected || time.Since(began) > patience || !pause(ctx, removePoll) {
			return
		}
	}
}

// end tells whether the watch is over, and what it saw: the exit, or why it was
// lost.
func (p *proc) end() (exit experiment.Exit, ended bool, lost error) {
	select {
	case <-p.ended:
		return p.exit, true, p.lost
	default:
		return experiment.Exit{}, false, nil
	}
}

// hasEnded tells whether the container does not run, as far as the watch knows.
func (p *proc) hasEnded() bool {
	_, ended, _ := p.end()
	return ended
}

// remove removes the container of a service that has ended.
func (p *proc) remove(ctx context.Context) error {
	p.stopWatch()
	return removeContainer(ctx, p.api, p.id)
}

// Resolve gives the paths and addresses that the container itself sees.
func (p *proc) Resolve(r experiment.Ref) (string, bool) { return inside(r) }

// locate reads the addresses and the first process of a started container.
func (p *proc) locate(seen container.InspectResponse) {
	if seen.State != nil {
		p.pid = seen.State.Pid
	}
	if seen.NetworkSettings == nil {
		return
	}
	if n := seen.NetworkSettings.Networks[p.env.name]; n != nil && n.IPAddress.IsValid() {
		p.ip = n.IPAddress.String()
	}
	p.published = map[int]string{}
	for port, bindings := range seen.NetworkSettings.Ports {
		if port.Proto() == network.TCP && len(bindings) > 0 {
			p.published[int(port.Num())] = net.JoinHostPort(bindings[0].HostIP.String(), bindings[0].HostPort)
		}
	}
}

// Addr gives the container's own address, or, where it cannot be dialled, that
// of the port published on 127.0.0.1; to other services, the service's name.
func (p *proc) Addr(port int, from experiment.Vantage) (string, error) {
	switch {
	case !slices.Contains(p.service.Ports, port):
		return "", fmt.Errorf("service %s declares no port %d", p.service.Name, port)
	case from == experiment.FromService:
		return net.JoinHostPort(p.service.Name, strconv.Itoa(port)), nil
	case p.env.direct && p.ip != "":
		return net.JoinHostPort(p.ip, strconv.Itoa(port)), nil
	case !p.env.direct && p.published[port] != "":
		return p.published[port], nil
	default:
		return "", fmt.Errorf("service %s has no address: it ended at once", p.service.Name)
	}
}

// Wait blocks until the container ends.
func (p *proc) Wait(ctx context.Context) (experiment.Exit, error) {
	select {
	case <-p.ended:
		return p.exit, p.lost
	case <-ctx.Done():
		return experiment.Exit{}, fmt.Errorf("wait for service %s: %w", p.service.Name, ctx.Err())
	}
}

// Stop sends SIGTERM (or what the image asks for) and kills after the service's
// StopTimeout, in whole seconds, rounded up. It comes back when the container has
// ended.
func (p *proc) Stop(ctx context.Context) error {
	patience := p.service.StopTimeout
	if patience == 0 {
		patience = defaultStopTimeout
	}
	seconds := int((patience + time.Second - 1) / time.Second)
	_, err := p.api.ContainerStop(ctx, p.id, client.ContainerStopOptions{Timeout: &seconds})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("stop service %s: %w", p.service.Name, err)
	}
	_, err = p.Wait(ctx)
	return err
}

// refusal begins what the engine writes in place of the output of a command that it
// could not execute.
const refusal = "OCI runtime exec failed"

// refused gives the error of a command that could not be executed; nil if it was. The
// code says no more than that: of a container that ended meanwhile it is 126, too.
func refused(code int, output []byte) error {
	if code != 126 && code != 127 || !bytes.HasPrefix(output, []byte(refusal)) {
		return nil
	}
	said := bytes.TrimSpace(output)
	named := func(why string) bool { return bytes.Contains(said, []byte(why)) }
	if slices.ContainsFunc([]string{
		"executable file not found", "no such file or directory", "permission denied", "exec format error", "is a directory", "not a directory",
	}, named) {
		return fmt.Errorf("%w: %s", experiment.ErrNoCommand, said)
	}
	return errors.New(string(said))
}

// Exec implements experiment.Execer. The engine reports what cannot be executed like a
// command that ends with 126 or 127.
func (p *proc) Exec(ctx context.Context, argv []string) (experiment.ExecResult, error) {
	fail := func(err error) (experiment.ExecResult, error) {
		return experiment.ExecResult{}, fmt.Errorf("exec in service %s: %w", p.service.Name, errors.Join(ctx.Err(), err))
	}
	made, err := p.api.ExecCreate(ctx, p.id, client.ExecCreateOptions{Cmd: argv, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return fail(err)
	}
	conn, err := p.api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return fail(err)
	}
	closeConn := sync.OnceFunc(conn.Close)
	defer closeConn()
	stop := context.AfterFunc(ctx, closeConn)
	defer stop()
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, &out, conn.Reader); err != nil {
		return fail(err)
	}
	for {
		state, err := p.api.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
		if err != nil {
			return fail(err)
		}
		if !state.Running {
			if err := refused(state.ExitCode, out.Bytes()); err != nil {
				return fail(err)
			}
			return experiment.ExecResult{Code: state.ExitCode, Output: out.Bytes()}, nil
		}
		if !pause(ctx, readyPoll) { // the output may be closed before the end
			return fail(nil)
		}
	}
}

// ReadFile copies a regular file out of the container, also after its end.
// Symbolic links are followed. A missing file wraps fs.ErrNotExist. What lies in a tmpfs
// or in a file system of the kernel cannot be copied, and its error says so.
func (p *proc) ReadFile(ctx context.Context, file string) ([]byte, error) {
	const mostLinks = 10
	for range mostLinks {
		if dir, ok := insideOnly(p.service, file); ok {
			return nil, fmt.Errorf("read %s of service %s: %s is seen from inside the container alone: run a command that reads it", file, p.service.Name, dir)
		}
		content, link, err := p.copyFile(ctx, file)
		switch {
		case errdefs.IsNotFound(err):
			return nil, fmt.Errorf("read %s of service %s: %w", file, p.service.Name, fs.ErrNotExist)
		case err != nil:
			return nil, fmt.Errorf("read %s of service %s: %w", file, p.service.Name, err)
		case link == "":
			return content, nil
		case path.IsAbs(link):
			file = link
		default:
			file = path.Join(path.Dir(file), link)
		}
	}
	return nil, fmt.Errorf("read %s of service %s: too many symbolic links", file, p.service.Name)
}

// copyFile gives the content of a file, or the target of a symbolic link.
func (p *proc) copyFile(ctx context.Context, file string) (content []byte, link string, err error) {
	res, err := p.api.CopyFromContainer(ctx, p.id, client.CopyFromContainerOptions{SourcePath: file})
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Content.Close() }() // only read
	r := tar.NewReader(res.Content)
	h, err := r.Next()
	if err != nil {
		return nil, "", err
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		return nil, h.Linkname, nil
	case tar.TypeReg:
		content, err = io.ReadAll(r)
		return content, "", err
	default:
		return nil, "", errors.New("not a regular file")
	}
}
