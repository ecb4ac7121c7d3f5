package matrixfile_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/matrices"
)

// FuzzParse wants an answer for any file: faults that say where, or a matrix of
// which every cell can be planned and told apart.
func FuzzParse(f *testing.F) {
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(base))
	for _, name := range []string{"whole", "external"} {
		src, err := os.ReadFile("testdata/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	files, _ := fs.Glob(matrices.FS, "*.yaml")
	for _, file := range files {
		src, err := matrices.FS.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	faults, err := os.ReadFile("testdata/faults.txt")
	if err != nil {
		f.Fatal(err)
	}
	for block := range strings.SplitSeq(string(faults), "\n\n# ") { // edits of the base, without their checks
		src := string(base)
		var before, after []string
		for line := range strings.SplitSeq(block, "\n") {
			if text, ok := strings.CutPrefix(line, "-"); ok {
				before = append(before, text)
			} else if text, ok := strings.CutPrefix(line, "+"); ok {
				after = append(after, text)
			}
		}
		f.Add(strings.Replace(src, strings.Join(before, "\n"), strings.Join(after, "\n"), 1))
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := matrixfile.Parse("m.yaml", "/matrices", []byte(src))
		if err != nil {
			checkFaults(t, m, err)
			return
		}
		if err := m.Validate(); err != nil {
			t.Errorf("Parse accepts what Validate refuses: %v", err)
		}
		keys := map[experiment.CellKey]bool{}
		for _, c := range m.Cells() {
			if keys[c.Key] {
				t.Errorf("two cells have the key %q", c.Key)
			}
			keys[c.Key] = true
			for _, runner := range []string{experiment.RunnerDocker, experiment.RunnerProcess} {
				if _, err := m.ForRunner(runner).Plan(c); err != nil {
					t.Errorf("plan %s: %v", c.Label(), err)
				}
			}
		}
		if again, err := matrixfile.Parse("other.yaml", "/elsewhere", []byte(src)); err != nil || again.Hash() != m.Hash() {
			t.Errorf("read again it is another sweep: %v", err)
		}
		m.Warnings()
	})
}

func checkFaults(t *testing.T, m *experiment.Matrix, err error) {
	t.Helper()
	faults := experiment.FieldErrors(err)
	if m != nil || len(faults) == 0 {
		t.Errorf("matrix %v and %d faults in %v", m, len(faults), err)
	}
	last := experiment.Pos{}
	for _, f := range faults {
		if f.At.Line < 1 || f.At.Column < 1 {
			t.Errorf("%v has no position", f)
		}
		if f.At.Line < last.Line || f.At.Line == last.Line && f.At.Column < last.Column {
			t.Errorf("%v stands after %v", f, last)
		}
		last = f.At
	}
}
