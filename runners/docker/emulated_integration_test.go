//go:build integration

package docker_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// An image for another processor is known by the platform behind its identity, and one
// for this host's has none.
func TestImageOfAnotherPlatform(t *testing.T) {
	api := engine(t)
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
	r := newRunner(t, gobuild.New(gobuild.Options{CacheDir: t.TempDir()}))
	host, err := r.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := "arm64"
	if host.Arch == other {
		other = "amd64"
	}
	for arch, want := range map[string]string{host.Arch: "", other: "linux/" + other} {
		s := experiment.Service{Name: "hello", Build: &experiment.Build{Go: dir}, Container: experiment.Container{Platform: "linux/" + arch}}
		images, err := r.Prepare(t.Context(), []experiment.Service{s})
		if err != nil {
			t.Fatal(err)
		}
		id, platform := experiment.SplitImage(images[s.Source()])
		t.Cleanup(func() {
			if _, err := api.ImageRemove(context.Background(), id, client.ImageRemoveOptions{Force: true}); err != nil {
				t.Errorf("remove image: %v", err)
			}
		})
		if platform != want {
			t.Errorf("%s: platform %q, want %q", arch, platform, want)
		}
	}
}
