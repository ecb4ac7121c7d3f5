package gobuild

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Image is a container image FROM scratch with one executable in it.
type Image struct {
	Tag     string // REPOSITORY:DIGITS, from the content
	Archive []byte // as an engine loads it (docker load)
}

// ImageLabel marks images made here; its value is "scratch".
const ImageLabel = "ceteris.image"

type imageConfig struct {
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Created      time.Time `json:"created"`
	Config       struct {
		Entrypoint []string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []imageHistory `json:"history"`
}

type imageHistory struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

type imageManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// ScratchImage makes, in memory, the image that "FROM scratch, COPY, ENTRYPOINT"
// would give. It is assembled here and not by an engine's builder because those
// write the time into it: the same executable always gives the same bytes and so
// the same image ID, on whatever day and engine, and two invocations that
// measured the same program can be seen to have done so.
func ScratchImage(binary, goarch, repository string) (Image, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return Image{}, fmt.Errorf("image: %w", err)
	}
	name := filepath.Base(binary)
	layer, err := tarball(file{name, 0o755, content})
	if err != nil {
		return Image{}, fmt.Errorf("image of %s: %w", binary, err)
	}
	c := imageConfig{
		Architecture: goarch, OS: "linux", Created: epoch(),
		History: []imageHistory{{Created: epoch(), CreatedBy: "ceteris: FROM scratch; COPY " + name + " /"}},
	}
	c.Config.Entrypoint = []string{"/" + name}
	c.Config.Labels = map[string]string{ImageLabel: "scratch"}
	c.RootFS.Type = "layers"
	c.RootFS.DiffIDs = []string{"sha256:" + hexSum(layer)}
	config, err := json.Marshal(c)
	if err != nil {
		return Image{}, fmt.Errorf("image of %s: %w", binary, err)
	}
	id := hexSum(config)
	tag := repository + ":" + id[:12]
	manifest, err := json.Marshal([]imageManifest{{Config: id + ".json", RepoTags: []string{tag}, Layers: []string{"layer.tar"}}})
	if err != nil {
		return Image{}, fmt.Errorf("image of %s: %w", binary, err)
	}
	archive, err := tarball(file{id + ".json", 0o644, config}, file{"layer.tar", 0o644, layer}, file{"manifest.json", 0o644, manifest})
	if err != nil {
		return Image{}, fmt.Errorf("image of %s: %w", binary, err)
	}
	return Image{Tag: tag, Archive: archive}, nil
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func epoch() time.Time { return time.Unix(0, 0).UTC() }

func tarball(files ...file) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: epoch()}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// elfMachine knows the processors for which an executable can be checked.
func elfMachine(goarch string) (elf.Machine, bool) {
	switch goarch {
	case "amd64":
		return elf.EM_X86_64, true
	case "arm64":
		return elf.EM_AARCH64, true
	default:
		return elf.EM_NONE, false
	}
}

// CheckStatic says why an executable could not run in an image FROM scratch of
// the architecture; nil if it can.
func CheckStatic(path, goarch string) error {
	f, err := elf.Open(path)
	if err != nil {
		return experiment.WithHint(fmt.Errorf("%s is no Linux executable: %w", path, err),
			"build it with CGO_ENABLED=0 GOOS=linux")
	}
	defer func() { _ = f.Close() }() // only read
	if want, known := elfMachine(goarch); known && f.Machine != want {
		return experiment.WithHint(fmt.Errorf("%s is for %s, the engine is %s", path, f.Machine, goarch),
			"build it with CGO_ENABLED=0 GOARCH="+goarch)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return experiment.WithHint(fmt.Errorf("%s is linked dynamically and cannot run alone in an image", path),
				"build it with CGO_ENABLED=0")
		}
	}
	return nil
}
