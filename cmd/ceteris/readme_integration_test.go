//go:build integration

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment/matrixfile"
)

// The commands of README.md, in a copy of the tree, as they stand there; the windows of
// their matrix are shorter in the copy. The one that runs the tests would come back here.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		if os.Getenv("CETERIS_REQUIRE_DOCKER") == "1" {
			t.Fatalf("README.md asks the database with sqlite3: %v", err)
		}
		t.Skipf("README.md asks the database with sqlite3: %v", err)
	}
	tree := copyTree(t)
	quickstart := filepath.Join(tree, "matrices", "quickstart.yaml")
	briefer(t, quickstart)
	var outputs []string
	for _, block := range shellBlocks(readme(t)) {
		if strings.HasPrefix(block, "go test ") {
			continue
		}
		outputs = append(outputs, shell(t, tree, block))
	}
	m, err := matrixfile.Load(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	if len(outputs) < 2 {
		t.Fatalf("README.md has %d commands beside the tests", len(outputs))
	}
	table, rows := outputs[0], outputs[1]
	for _, c := range m.Cells() {
		row := `(?m)^` + regexp.QuoteMeta(c.Label()) + ` +3 +[0-9.]+ \[.+\]`
		if c.Label() == "validate_connection=true" {
			row += `.*\bworse\b`
		}
		if !regexp.MustCompile(row).MatchString(table) {
			t.Errorf("no match for %s", row)
		}
	}
	if got, want := strings.Count(rows, "\n")-2, len(m.Cells()); got != want { // the title and a line below it
		t.Errorf("the query answers %d rows for %d cells", got, want)
	}
}

// shellBlocks gives the ```sh blocks of a text.
func shellBlocks(text string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// copyTree gives a copy of all tracked files as they are now.
func copyTree(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	tree := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// briefer shortens the warm-up and the window of a matrix.
func briefer(t *testing.T, file string) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	brief := strings.NewReplacer("warmup: 1s", "warmup: 500ms", "measure: 4s", "measure: 1500ms").Replace(string(whole))
	if brief == string(whole) {
		t.Fatalf("%s has no such windows to be shortened", file)
	}
	if err := os.WriteFile(file, []byte(brief), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shell runs a block in the tree, with a state of its own, and gives its standard
// output. It holds the lock of the host, as users do.
func shell(t *testing.T, tree, block string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block)
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "CETERIS_DB=", "CETERIS_LIBEXEC=")
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	t.Logf("$ %s%s%s", block, errs.String(), out.String())
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
