//go:build integration

package docker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// cell is an opened environment with images ready.
type cell struct {
	t     *testing.T
	api   *client.Client
	env   experiment.Env
	owner string
}

func openCell(t *testing.T, services ...experiment.Service) cell {
	t.Helper()
	api := engine(t)
	r := newRunner(t, gobuild.New(gobuild.Options{}))
	if _, err := r.Prepare(t.Context(), services); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	owner, err := experiment.ThisOwner("cells-" + rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Open(t.Context(), experiment.RunKey{Owner: owner.String(), Sweep: 1, Run: 2})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	c := cell{t, api, env, owner.String()}
	t.Cleanup(c.close)
	return c
}

func (c cell) close() {
	c.t.Helper()
	if err := c.env.Close(context.WithoutCancel(c.t.Context())); err != nil {
		c.t.Errorf("close: %v", err)
	}
}

func (c cell) launch(s experiment.Service) experiment.Proc {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	p, err := c.env.Launch(ctx, s)
	if err != nil {
		c.t.Fatalf("%v", err)
	}
	return p
}

// inspect gives the only container of the cell.
func (c cell) inspect() container.InspectResponse {
	c.t.Helper()
	list, err := c.api.ContainerList(c.t.Context(), client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", docker.LabelOwner+"="+c.owner)})
	if err != nil || len(list.Items) != 1 {
		c.t.Fatalf("the cell has %d containers (%v), want one", len(list.Items), err)
	}
	seen, err := c.api.ContainerInspect(c.t.Context(), list.Items[0].ID, client.ContainerInspectOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return seen.Container
}

func logsOf(t *testing.T, p experiment.Proc) string {
	t.Helper()
	r, err := p.Logs(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func texts(words ...string) []experiment.Template {
	out := make([]experiment.Template, len(words))
	for i, w := range words {
		out[i] = experiment.Literal(w)
	}
	return out
}

func redis() experiment.Service {
	return experiment.Service{
		Name: "redis", Image: "redis:7", Ports: []int{6379}, Role: experiment.RoleBacking,
		Command: texts("redis-server", "--save", ""),
		Ready:   &experiment.Step{Run: texts("redis-cli", "ping"), Has: experiment.Literal("PONG"), Within: 30 * time.Second},
	}
}

func shell(script string) experiment.Service {
	return experiment.Service{Name: "sh", Image: "debian:bookworm-slim", Command: texts("sh", "-c", script)}
}

func TestContainerIsWhatTheServiceSays(t *testing.T) {
	s := redis()
	s.Cores = experiment.CoreSet{0}
	s.Limits = experiment.Limits{CPUs: 0.5, Memory: 128 << 20, PIDs: 50}
	c := openCell(t, s)
	c.launch(s)
	seen := c.inspect()

	type facts struct {
		Cpuset, LogDriver, Restart, Hostname string
		NanoCPUs, Memory, Swap, PIDs         int64
		Published, Privileged                bool
		Labels                               map[string]string
	}
	host := seen.HostConfig
	labels := map[string]string{}
	for k, v := range seen.Config.Labels {
		if strings.HasPrefix(k, "ceteris.") && k != docker.LabelEnv {
			labels[k] = v
		}
	}
	got := facts{
		Cpuset: host.CpusetCpus, LogDriver: host.LogConfig.Type, Restart: string(host.RestartPolicy.Name), Hostname: seen.Config.Hostname,
		NanoCPUs: host.NanoCPUs, Memory: host.Memory, Swap: host.MemorySwap, PIDs: *host.PidsLimit,
		Published: len(host.PortBindings) > 0 || host.PublishAllPorts, Privileged: host.Privileged, Labels: labels,
	}
	want := facts{
		Cpuset: "0", LogDriver: "json-file", Restart: "no", Hostname: "redis",
		NanoCPUs: 5e8, Memory: 128 << 20, Swap: 128 << 20, PIDs: 50,
		Labels: map[string]string{docker.LabelOwner: c.owner, docker.LabelSweep: "1", docker.LabelRun: "2", docker.LabelService: "redis"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the container (-want +got):\n%s", d)
	}
	for port, bindings := range seen.NetworkSettings.Ports {
		if len(bindings) > 0 {
			t.Errorf("port %s is published at %v", port, bindings)
		}
	}
}

func TestImageExposesButNothingIsPublished(t *testing.T) {
	s := redis()
	s.Ports = nil // the image exposes 6379 all the same
	c := openCell(t, s)
	c.launch(s)
	if b := c.inspect().HostConfig.PortBindings; len(b) > 0 {
		t.Errorf("published: %v", b)
	}
}

func TestCloseRemovesAnonymousVolumes(t *testing.T) {
	s := redis()
	c := openCell(t, s)
	c.launch(s)
	mounts := c.inspect().Mounts
	if len(mounts) != 1 || mounts[0].Name == "" {
		t.Fatalf("redis has the mounts %v, want one anonymous volume", mounts)
	}
	c.close()
	if _, err := c.api.VolumeInspect(t.Context(), mounts[0].Name, client.VolumeInspectOptions{}); !errdefs.IsNotFound(err) {
		t.Errorf("the volume after close: %v, want none", err)
	}
}

func TestFailedLaunchRemovesAnonymousVolumes(t *testing.T) {
	s := redis()
	s.Command = texts("redis-server", "--port", "1")
	s.Ready = &experiment.Step{Port: 6379, Within: 10 * time.Minute}
	c := openCell(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	launched := make(chan error, 1)
	go func() {
		_, err := c.env.Launch(ctx, s)
		launched <- err
	}()
	volume := c.awaitVolume()
	cancel()
	if err := <-launched; !errors.Is(err, context.Canceled) {
		t.Fatalf("launch: %v, want %v", err, context.Canceled)
	}
	if _, err := c.api.VolumeInspect(t.Context(), volume, client.VolumeInspectOptions{}); !errdefs.IsNotFound(err) {
		t.Errorf("the volume after the failed launch: %v, want none", err)
	}
}

// awaitVolume waits until a container of the cell has a volume, and names it.
func (c cell) awaitVolume() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	for {
		list, err := c.api.ContainerList(ctx, client.ContainerListOptions{Filters: client.Filters{}.Add("label", docker.LabelOwner+"="+c.owner)})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, ctr := range list.Items {
			for _, m := range ctr.Mounts {
				return m.Name
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// newProgram gives the directory of a Go program whose image is in no engine yet.
func newProgram(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hello")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.org/hello\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { print(\"" + rand.Text() + "\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImageOfABuildIsMadeOnceAndHasAnIdentity(t *testing.T) {
	api := engine(t)
	dir := newProgram(t)
	builder := gobuild.New(gobuild.Options{CacheDir: t.TempDir()})
	s := experiment.Service{Name: "hello", Build: &experiment.Build{Go: dir}}
	prepare := func() (string, []string) {
		images, err := newRunner(t, builder).Prepare(t.Context(), []experiment.Service{s, s})
		if err != nil {
			t.Fatal(err)
		}
		seen, err := api.ImageInspect(t.Context(), images[s.Source()])
		if err != nil {
			t.Fatal(err)
		}
		return seen.ID, seen.RepoTags
	}
	id, tags := prepare()
	remove := func(ctx context.Context) {
		if _, err := api.ImageRemove(ctx, tags[0], client.ImageRemoveOptions{}); err != nil {
			t.Errorf("remove image: %v", err)
		}
	}
	if len(tags) != 1 || !strings.HasPrefix(tags[0], docker.Repository+":") {
		t.Fatalf("tags: %v", tags)
	}
	if again, _ := prepare(); again != id {
		t.Errorf("prepared again: %s, want %s", again, id)
	}
	remove(t.Context())
	if again, _ := prepare(); again != id {
		t.Errorf("prepared after the image was removed: %s, want %s", again, id)
	}
	remove(t.Context())
}

func TestMissingImage(t *testing.T) {
	engine(t)
	r := newRunner(t, nil)
	// Nothing listens at port 1 of this host, so nothing is asked of any registry.
	s := experiment.Service{Name: "x", Image: "127.0.0.1:1/none/such:1"}
	_, err := r.Prepare(t.Context(), []experiment.Service{s})
	var hint *experiment.HintError
	if err == nil || !errors.As(err, &hint) || !strings.Contains(hint.Hint, "docker pull 127.0.0.1:1/none/such:1") {
		t.Errorf("got %v, want an error with a hint how to get the image", err)
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	s := experiment.Service{Name: "sh", Image: "debian:bookworm-slim", Command: texts("/no/such/program")}
	c := openCell(t, s)
	if _, err := c.env.Launch(t.Context(), s); !errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, want it to wrap %v", err, experiment.ErrExited)
	}
	if left := containersOf(t.Context(), t, c.api, c.owner); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestLastWordsOfAServiceThatExits(t *testing.T) {
	s := shell("echo no configuration >&2; exit 5")
	s.Ports = []int{80}
	s.Ready = &experiment.Step{Port: 80}
	c := openCell(t, s)
	_, err := c.env.Launch(t.Context(), s)
	if !errors.Is(err, experiment.ErrExited) || !strings.Contains(err.Error(), "no configuration") || !strings.Contains(err.Error(), "5") {
		t.Errorf("got %v, want the exit code and the last output", err)
	}
}

func TestFollowLosesNothing(t *testing.T) {
	const lines = 30_000
	s := shell(fmt.Sprintf("echo to stderr >&2; seq 1 %d", lines))
	c := openCell(t, s)
	p := c.launch(s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := p.Logs(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i+1)
	}
	if string(got) != want.String() {
		t.Errorf("followed %d bytes, want %d", len(got), want.Len())
	}
}

func TestVolumeOfALongLine(t *testing.T) {
	const length = 100_000 // the engine cuts such lines into messages of 16 KiB
	s := shell(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; echo; echo done; exec sleep 60", length))
	s.Ready = &experiment.Step{Log: "^done$", Within: 30 * time.Second} // a line is seen before it is whole
	c := openCell(t, s)
	began := time.Now().Add(-time.Second)
	p := c.launch(s)
	got, err := p.(experiment.LogMeter).LogVolume(t.Context(), began, time.Now().Add(time.Second))
	if want := (experiment.LogVolume{Bytes: length + 1 + int64(len("done\n")), Lines: 2}); err != nil || got != want {
		t.Errorf("log volume: got %+v, %v, want %+v", got, err, want)
	}
}

func TestReadFileFollowsLinksAndOutlivesTheService(t *testing.T) {
	s := shell("mkdir /d && echo inside >/d/file && ln -s file /d/near && ln -s /d/near /far && ln -s /loop /loop")
	c := openCell(t, s)
	p := c.launch(s)
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	x := p.(experiment.Execer)
	for _, path := range []string{"/d/file", "/d/near", "/far"} {
		if got, err := x.ReadFile(t.Context(), path); err != nil || string(got) != "inside\n" {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"/loop", "/d"} {
		if got, err := x.ReadFile(t.Context(), path); err == nil {
			t.Errorf("%s: got %q, want an error", path, got)
		}
	}
}

// Readings of a container of this kernel are true now, not on some tick of the
// engine: what a busy loop used between two of them is all the time between them.
func TestUsageIsOfTheMomentOfAsking(t *testing.T) {
	s := shell("echo on; while :; do :; done")
	s.Ready = &experiment.Step{Log: "^on$", Within: 30 * time.Second}
	s.Cores = experiment.CoreSet{0}
	p := openCell(t, s).launch(s)
	var last experiment.Usage
	for i := range 5 {
		before := time.Now()
		u, err := p.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if u.At.Before(before) || u.At.After(time.Now()) {
			t.Errorf("reading %d is of %v, asked at %v", i, u.At, before)
		}
		if i > 0 && u.Counters[experiment.CounterCPU] <= last.Counters[experiment.CounterCPU] {
			t.Errorf("reading %d: no processor time since the one before: %v", i, u.Counters)
		}
		last = u
		time.Sleep(100 * time.Millisecond)
	}
}
