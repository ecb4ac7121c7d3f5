//go:build integration

package docker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/gobuild"
	"github.com/ceteris/ceteris/runners/runnertest"
)

// requireEnv makes a missing engine a fault instead of a reason to skip.
const requireEnv = "CETERIS_REQUIRE_DOCKER"

func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftOfThisProcess(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "left on the engine at the end of the tests: %q\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftOfThisProcess lists what any test of this process left behind.
func leftOfThisProcess() []string {
	api, err := client.New(client.FromEnv)
	if err != nil {
		return nil
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{}); err != nil {
		return nil // no engine, nothing left on it
	}
	return remains(ctx, api, func(owner string) bool {
		o, err := experiment.ParseOwner(owner)
		return err == nil && o.PID == os.Getpid() && o.Fate() == experiment.OwnerAlive
	})
}

// remains lists containers, networks and volumes by their labels, without the runner.
func remains(ctx context.Context, api *client.Client, ours func(owner string) bool) []string {
	var out []string
	containers, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", docker.LabelOwner)})
	if err != nil {
		return []string{err.Error()}
	}
	for _, c := range containers.Items {
		if ours(c.Labels[docker.LabelOwner]) {
			out = append(out, "container "+c.Names[0])
		}
	}
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: client.Filters{}.Add("label", docker.LabelOwner)})
	if err != nil {
		return []string{err.Error()}
	}
	for _, n := range networks.Items {
		if ours(n.Labels[docker.LabelOwner]) {
			out = append(out, "network "+n.Name)
		}
	}
	volumes, err := api.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("label", docker.LabelOwner)})
	if err != nil {
		return []string{err.Error()}
	}
	for _, v := range volumes.Items {
		if ours(v.Labels[docker.LabelOwner]) {
			out = append(out, "volume "+v.Name)
		}
	}
	return out
}

func containersOf(ctx context.Context, t testing.TB, api *client.Client, owner string) []string {
	t.Helper()
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", docker.LabelOwner+"="+owner)})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list.Items {
		out = append(out, "container "+c.Names[0])
	}
	return out
}

// engine gives a client of our own, or skips the test where no engine answers.
func engine(t testing.TB) *client.Client {
	t.Helper()
	api, err := client.New(client.FromEnv)
	if err == nil {
		t.Cleanup(func() { _ = api.Close() })
		_, err = api.Ping(t.Context(), client.PingOptions{})
	}
	if err == nil {
		return api
	}
	if os.Getenv(requireEnv) == "1" {
		t.Fatalf("no engine answers, and %s=1: %v", requireEnv, err)
	}
	t.Skipf("no engine answers: %v", err)
	return nil
}

func newRunner(t testing.TB, b *gobuild.Builder) *docker.Runner {
	t.Helper()
	r, err := docker.New(docker.Options{Builder: b})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keepsPeaks reports whether the largest memory use of a container can be known:
// from the engine on cgroup v1, from a local kernel that keeps it on v2.
func keepsPeaks(t testing.TB, api *client.Client, host experiment.Host) bool {
	t.Helper()
	res, err := api.Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob("/sys/fs/cgroup/*/memory.peak")
	if err != nil {
		t.Fatal(err)
	}
	return res.Info.CgroupVersion == "1" || host.Local && len(kept) > 0
}

func TestConformance(t *testing.T) {
	api := engine(t)
	builder := gobuild.New(gobuild.Options{})
	host, err := newRunner(t, builder).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runnertest.Run(t, runnertest.Harness{
		New: func(t testing.TB) experiment.Runner { return newRunner(t, builder) },
		Capabilities: runnertest.Capabilities{
			Serves: true, Pins: host.Enforces.Cores, LimitsCPU: host.Enforces.CPUs, LimitsMemory: host.Enforces.Memory, LimitsPIDs: host.Enforces.PIDs,
			Exec: true, LogMeter: true, ThrottleCounters: true, NetCounters: true, PeakMemory: keepsPeaks(t, api, host), Cleans: true, Aliases: true,
		},
		Remains: func(t testing.TB, owner string) []string {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
			defer cancel()
			// The suite asks also while the environment is open; networks are looked at
			// at the end of all tests.
			return containersOf(ctx, t, api, owner)
		},
	})
}
