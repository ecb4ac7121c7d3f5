package docker

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// Check asks whether an engine answers (else experiment.ErrNoRuntime) that runs
// Linux containers (else experiment.ErrCannotRun), and what host it is on.
func (r *Runner) Check(ctx context.Context) (experiment.Host, error) {
	api, err := r.client()
	if err != nil {
		return experiment.Host{}, err
	}
	// The library answers Info from memory, so ask for a sign of life first.
	if _, err := api.Ping(ctx, client.PingOptions{}); err != nil {
		return experiment.Host{}, noRuntime(err)
	}
	res, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return experiment.Host{}, noRuntime(err)
	}
	if res.Info.OSType != "linux" {
		return experiment.Host{}, fmt.Errorf("docker: the engine runs %s containers: %w", res.Info.OSType, experiment.ErrCannotRun)
	}
	host := describe(res.Info, isLocal(api.DaemonHost(), res.Info))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.host = host
	return host, nil
}

func describe(info system.Info, local bool) experiment.Host {
	h := experiment.Host{
		Name:   info.Name,
		OS:     info.OSType,
		Arch:   goArch(info.Architecture),
		Kernel: info.KernelVersion,
		Memory: info.MemTotal,
		Engine: "docker " + info.ServerVersion,
		Local:  local,
		Enforces: experiment.Enforces{
			Cores:  info.CPUSet,
			CPUs:   info.CPUCfsQuota,
			Memory: info.MemoryLimit,
			PIDs:   info.PidsLimit,
		},
	}
	for c := range info.NCPU {
		h.Cores = append(h.Cores, c)
	}
	if !local {
		return h
	}
	h.CPU, h.StateDir = cpuModel(), info.DockerRootDir
	if boot, err := experiment.BootID(); err == nil {
		h.Boot = boot
	}
	// The engine counts processors; only the kernel knows their numbers.
	if online, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil {
		if set, err := experiment.ParseCoreSet(strings.TrimSpace(string(online))); err == nil && len(set) >= info.NCPU {
			h.Cores = set[:info.NCPU]
		}
	}
	return h
}

// isLocal reports whether the engine runs on this host's kernel: reached by a
// socket file, with the same kernel version and host name. Docker Desktop's
// machine differs in both.
func isLocal(daemon string, info system.Info) bool {
	name, err := os.Hostname()
	if err != nil || !strings.HasPrefix(daemon, "unix://") {
		return false
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && name == info.Name && strings.TrimSpace(string(kernel)) == info.KernelVersion
}

func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	default:
		return machine
	}
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// reachable reports whether containers of a bridge network can be dialled from
// here: its gateway is then an address of one of our own interfaces. That holds
// for a local engine on Linux, and for no engine in another machine, in another
// network namespace (rootless), or beside a ceteris that is in a container.
func reachable(n network.Inspect) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	own := map[netip.Addr]bool{}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own[p.Addr()] = true
		}
	}
	for _, c := range n.IPAM.Config {
		if own[c.Gateway] {
			return true
		}
	}
	return false
}
