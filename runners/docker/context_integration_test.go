//go:build integration

package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
	"github.com/ceteris/ceteris/runners/runnertest"
)

// contextOf makes a build context of texts.
func contextOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openBuilt opens a cell for a service that is built, and removes its image at the end.
func openBuilt(t *testing.T, s experiment.Service) cell {
	t.Helper()
	api := engine(t)
	r := newRunner(t, nil)
	images, err := r.Prepare(t.Context(), []experiment.Service{s})
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	id := images[s.Source()]
	if !strings.HasPrefix(id, "sha256:") {
		t.Errorf("images: %v, want one of %s", images, s.Source())
	}
	t.Cleanup(func() { removeImage(t, api, id) })
	return openCell(t, s)
}

func removeImage(t *testing.T, api *client.Client, id string) {
	t.Helper()
	_, err := api.ImageRemove(context.WithoutCancel(t.Context()), id, client.ImageRemoveOptions{Force: true, PruneChildren: true})
	if err != nil {
		t.Errorf("remove image: %v", err)
	}
}

func TestContextFromScratch(t *testing.T) {
	binary, err := gobuild.New(gobuild.Options{}).Binary(t.Context(), experiment.Build{Go: runnertest.SubjectDir()}, "linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	dir := contextOf(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY subject /bin/subject\nENTRYPOINT [\"/bin/subject\"]\n", "subject": string(program)})
	if err := os.Chmod(filepath.Join(dir, "subject"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := runnertest.Subject("serve")
	s.Build = &experiment.Build{Context: dir}
	openBuilt(t, s).launch(s)
}

func TestContextWithArgumentsBeforeAndIgnored(t *testing.T) {
	dir := contextOf(t, map[string]string{
		"deep/Dockerfile.test": "FROM debian:bookworm-slim\nARG WHO\nENV WHO=$WHO\nCOPY . /context\nRUN echo \"for $WHO\" >/built\n",
		".dockerignore":        "# comment\n*.secret\nbig\n!kept.secret\n",
		"a.secret":             "hidden", "kept.secret": "seen", "big/file": "hidden", "plain": "seen",
	})
	s := shell("cat /built /context/made; echo $WHO; cd /context; ls -d * | tr '\\n' ' '")
	s.Image = ""
	s.Build = &experiment.Build{
		Context: dir, Dockerfile: "deep/Dockerfile.test", Args: []experiment.KeyValue{{Key: "WHO", Value: "some body"}},
		Before: []string{"sh", "-c", "echo made before >made; pwd >&2"},
	}
	got, code := openBuilt(t, s).script(s)
	if diff := cmp.Diff(got, "for some body\nmade before\nsome body\ndeep kept.secret made plain "); diff != "" || code != 0 {
		t.Errorf("ended with %d; wrote (-got +want):\n%s", code, diff)
	}
}

// TestImageWithUser has a user who reads files, writes to a volume of its own and finds
// it again.
func TestImageWithUser(t *testing.T) {
	s := shell("cat /etc/app/conf && echo x >>/data/log && stat -c '%U %a' /data /data/log && wc -l </data/log")
	s.Image = ""
	s.Build = &experiment.Build{Context: contextOf(t, map[string]string{
		"Dockerfile": "FROM debian:bookworm-slim\nRUN useradd app && mkdir -m 750 /data && chown app /data\nUSER app\n",
	})}
	s.Files = []experiment.File{{Path: "/etc/app/conf", Content: experiment.Literal("readable\n")}}
	s.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	c := openBuilt(t, s)
	if got, code := c.script(s); got != "readable\napp 750\napp 644\n1\n" || code != 0 {
		t.Errorf("the first run wrote %q and ended with %d", got, code)
	}
	var saved strings.Builder
	if err := c.env.(experiment.VolumeKeeper).SaveVolumes(t.Context(), s.Name, &saved); err != nil {
		t.Fatal(err)
	}
	next := openCell(t, s)
	if err := next.env.(experiment.VolumeKeeper).RestoreVolumes(t.Context(), s, strings.NewReader(saved.String())); err != nil {
		t.Fatal(err)
	}
	if got, code := next.script(s); got != "readable\napp 750\napp 644\n2\n" || code != 0 {
		t.Errorf("with the volume restored it wrote %q and ended with %d", got, code)
	}
}

func TestBuildsThatFail(t *testing.T) {
	engine(t)
	for _, tc := range []struct {
		name  string
		files map[string]string
		build experiment.Build
		want  []string
	}{
		{
			"a step",
			map[string]string{"Dockerfile": "FROM debian:bookworm-slim\nRUN echo precious words; exit 3\n"},
			experiment.Build{},
			[]string{"Step 2/2 : RUN echo precious words; exit 3", "returned a non-zero code: 3", "; its last output:\nprecious words"},
		},
		{"no such file", map[string]string{"Dockerfile": "FROM scratch\nCOPY nothing /\n"}, experiment.Build{}, []string{"Step 2/2 : COPY nothing /", "nothing"}},
		{"a typing error", map[string]string{"Dockerfile": "FROM scratch\nKOPY . /\n"}, experiment.Build{}, []string{"unknown instruction: KOPY"}},
		{"no Dockerfile", nil, experiment.Build{}, []string{"Dockerfile: no such file"}},
		{
			"the command before",
			map[string]string{"Dockerfile": "FROM scratch\n"},
			experiment.Build{Before: []string{"sh", "-c", "seq 1 100; echo no compiler >&2; exit 9"}},
			[]string{"before the build of", "exit status 9", "\n99\n100\nno compiler"},
		},
		{"no such command before", map[string]string{"Dockerfile": "FROM scratch\n"}, experiment.Build{Before: []string{"/no/such/make"}}, []string{"/no/such/make"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := tc.build
			b.Context = contextOf(t, tc.files)
			_, err := newRunner(t, nil).Prepare(t.Context(), []experiment.Service{{Name: "app", Build: &b}})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(tc.want, "service app", b.Context) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to hold %q", err, want)
				}
			}
		})
	}
}

func TestCommandBeforeIsCancelledWithAllThatItStarted(t *testing.T) {
	engine(t)
	dir := contextOf(t, map[string]string{"Dockerfile": "FROM scratch\n"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	b := experiment.Build{Context: dir, Before: []string{"sh", "-c", "sleep 600 & sleep 600"}}
	if _, err := newRunner(t, nil).Prepare(ctx, []experiment.Service{{Name: "app", Build: &b}}); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want the end of the time it had", err)
	}
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if at, err := os.Readlink(d); err == nil && at == dir {
			t.Errorf("%s is at work in the context still", d)
		}
	}
}

func TestPlatformThatIsNotThere(t *testing.T) {
	api := engine(t)
	const name = "127.0.0.1:1/ceteris/platform:1" // nothing listens at port 1: nothing is asked of any registry
	if _, err := api.ImageTag(t.Context(), client.ImageTagOptions{Source: "debian:bookworm-slim", Target: name}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := api.ImageRemove(context.WithoutCancel(t.Context()), name, client.ImageRemoveOptions{}); err != nil {
			t.Error(err)
		}
	}()
	host, err := newRunner(t, nil).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := experiment.Service{Name: "x", Image: name, Command: texts("true"), Job: true, Container: experiment.Container{Platform: "linux/" + host.Arch}}
	if _, code := openCell(t, s).script(s); code != 0 {
		t.Errorf("on this platform it ended with %d", code)
	}
	s.Container.Platform = "linux/s390x"
	if _, err := newRunner(t, nil).Prepare(t.Context(), []experiment.Service{s}); err == nil || !strings.Contains(err.Error(), "linux/s390x is not on the engine") {
		t.Errorf("got %v, want that it is not there for linux/s390x", err)
	}
}
