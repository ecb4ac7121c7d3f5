package compose

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestConvert: each folder of testdata holds a compose file and the matrix that it
// gives, what is left out at its head.
func TestConvert(t *testing.T) {
	files, err := filepath.Glob("testdata/*/compose.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d compose files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Setenv("DB_PASSWORD", "hunter2") // the caller's values must not get into the text
			m, err := Convert(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(filepath.Dir(file), "matrix.yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(m.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m.Text, string(want)); diff != "" {
				t.Errorf("matrix (-got +want):\n%s", diff)
			}
			for _, d := range m.Dropped {
				if !strings.Contains(m.Text, "#   "+d+"\n") {
					t.Errorf("the head does not tell %q", d)
				}
			}
		})
	}
}

func TestSubstitute(t *testing.T) {
	for src, want := range map[string]string{
		"plain":            "plain",
		"${A:-x y}":        "x y",
		"${A-}":            "",
		"${A:?must be}":    "${env:A}",
		"$A and ${B}":      "${env:A} and ${env:B}",
		"$$A":              "$A",
		"$${A}":            "$${A}",
		"100$":             "100$",
		"${A:-${B:-deep}}": "deep",
		"${A:-${B}}":       "${env:B}",
	} {
		if got, err := substitute(src, nil); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", src, got, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	for name, src := range map[string]string{
		"no YAML": "services: [", "no services": "name: x\n", "unknown key": "services: {web: {image: x, imagee: y}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "compose.yaml")
			if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
				t.Fatal(err)
			}
			if m, err := Convert(t.Context(), file); err == nil {
				t.Errorf("no error, and the matrix\n%s", m.Text)
			}
		})
	}
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "none.yaml")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
