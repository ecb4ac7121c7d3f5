//go:build integration

package docker_test

import (
	"context"
	"testing"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// An image for another processor is known by the platform behind its identity, and one
// for this host's has none.
func TestImageOfAnotherPlatform(t *testing.T) {
	api := engine(t)
	dir := newProgram(t)
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
