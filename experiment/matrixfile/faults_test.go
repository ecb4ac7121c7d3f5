package matrixfile_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

var update = flag.Bool("update", false, "write golden files anew")

// faultCase is a case of testdata/faults.txt.
type faultCase struct {
	name  string
	input []string // its lines but the error's
	src   string
	want  string
}

// readFaults reads testdata/faults.txt; its head says how.
func readFaults(t *testing.T) (head string, cases []faultCase) {
	t.Helper()
	base := string(readFile(t, "testdata/base.yaml"))
	head, rest, _ := strings.Cut(string(readFile(t, "testdata/faults.txt")), "\n\n")
	for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n# ") {
		c := faultCase{src: base}
		lines := strings.Split(strings.TrimPrefix(block, "# "), "\n")
		c.name = lines[0]
		var before, after, want []string
		edit := func() {
			old, text := strings.Join(before, "\n"), strings.Join(after, "\n")
			switch {
			case before == nil && after != nil:
				c.src = text
			case strings.Count(c.src, old) != 1 && before != nil:
				t.Fatalf("%s: %q stands %d times in the matrix", c.name, old, strings.Count(c.src, old))
			default:
				c.src = strings.Replace(c.src, old, text, 1)
			}
			before, after = nil, nil
		}
		for _, line := range lines[1:] {
			kind, text := line[:1], line[1:]
			switch kind {
			case "-":
				if after != nil {
					edit()
				}
				before = append(before, text)
			case "+":
				after = append(after, text)
			case "!":
				want = append(want, text)
				continue
			}
			c.input = append(c.input, line)
		}
		edit()
		c.want = strings.Join(want, "\n")
		cases = append(cases, c)
	}
	return head, cases
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFaults pins the whole message of every kind of faulty matrix.
func TestFaults(t *testing.T) {
	head, cases := readFaults(t)
	var out strings.Builder
	out.WriteString(head + "\n")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := matrixfile.Parse("m.yaml", "/matrices", []byte(c.src))
			if err == nil || m != nil {
				t.Fatalf("Parse gave %v and %v, want an error and no matrix", m, err)
			}
			out.WriteString("\n# " + c.name + "\n" + strings.Join(append(c.input, prefixed(err.Error())...), "\n") + "\n")
			if diff := cmp.Diff(err.Error(), c.want); diff != "" && !*update {
				t.Errorf("error (-got +want):\n%s", diff)
			}
			for _, f := range experiment.FieldErrors(err) {
				if f.At.Line < 1 || f.At.Column < 1 || f.At.File != "m.yaml" {
					t.Errorf("%v: position %+v is not complete", f, f.At)
				}
			}
			if strings.Contains(err.Error(), "not yet built") != errors.Is(err, experiment.ErrNotYet) {
				t.Errorf("%v: errors.Is(ErrNotYet) is %v", err, errors.Is(err, experiment.ErrNotYet))
			}
		})
	}
	if *update {
		if err := os.WriteFile("testdata/faults.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(cases) < 200 {
		t.Errorf("%d cases only", len(cases))
	}
}

func prefixed(text string) []string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = "!" + lines[i]
	}
	return lines
}

func TestBaseHasNoFault(t *testing.T) {
	if _, err := matrixfile.Parse("base.yaml", "/matrices", readFile(t, "testdata/base.yaml")); err != nil {
		t.Errorf("the matrix that the cases are made from: %v", err)
	}
}
