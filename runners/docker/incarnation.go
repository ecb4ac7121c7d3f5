package docker

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

var _ experiment.Incarnate = (*Runner)(nil)

// defaultBridge is the network that an engine makes anew whenever it starts, unless it
// was told to have none or has kept containers alive meanwhile.
const defaultBridge = "bridge"

// Incarnation implements experiment.Incarnate. The engine's API has no word for it: it
// is told by the process that listens on the engine's socket, where that is a file on
// this kernel, and by the id of the engine's own bridge.
func (r *Runner) Incarnation(ctx context.Context) (string, error) {
	api, err := r.client()
	if err != nil {
		return "", err
	}
	var parts []string
	made, err := api.NetworkInspect(ctx, defaultBridge, client.NetworkInspectOptions{})
	switch {
	case err == nil:
		parts = append(parts, "bridge "+short(made.Network.ID))
	case !errdefs.IsNotFound(err):
		return "", fmt.Errorf("inspect network %s: %w", defaultBridge, err)
	}
	if path, ok := strings.CutPrefix(api.DaemonHost(), "unix://"); ok {
		pid, err := listener(ctx, path)
		if err != nil {
			return "", fmt.Errorf("who listens on %s: %w", path, err)
		}
		// A process that cannot be seen from here is no part of the name.
		if started, err := experiment.ProcessStart(pid); err == nil {
			parts = append(parts, fmt.Sprintf("process %d of %s", pid, started))
		}
	}
	return strings.Join(parts, ", "), nil
}

// listener gives the process that has made a socket listen, by this process' count; 0
// if it has no number here.
func listener(ctx context.Context, path string) (int, error) {
	conn, err := (&net.Dialer{Timeout: pingTimeout}).DialContext(ctx, "unix", path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) {
		peer, peerErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if peerErr != nil {
		return 0, peerErr
	}
	return int(peer.Pid), nil
}
