package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help gives what COMMAND --help prints.
func help(t *testing.T, path ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append(path, "--help"), strings.NewReader(""), &out, &errs, nil); code != exitOK || errs.Len() > 0 {
		t.Fatalf("%v --help: exit code %d, stderr %q", path, code, errs.String())
	}
	return out.String()
}

func TestEveryCommandHelps(t *testing.T) {
	root := newRootCommand(&app{out: io.Discard, err: &screen{w: io.Discard}}, strings.NewReader(""))
	commands := append(root.Commands(), root)
	for _, cmd := range commands {
		t.Run(cmd.Name(), func(t *testing.T) {
			path := strings.Fields(cmd.CommandPath())[1:]
			text := help(t, path...)
			_, example, found := strings.Cut(text, "Examples:\n")
			if !found || !strings.HasPrefix(example, "  ") || !strings.Contains(strings.SplitN(example, "\n", 2)[0], "ceteris") {
				t.Errorf("no example in\n%s", text)
			}
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !strings.Contains(text, "--"+f.Name) || f.Usage == "" {
					t.Errorf("--%s is not explained in\n%s", f.Name, text)
				}
			})
			if !strings.HasPrefix(cmd.Use, "ceteris") && !strings.Contains(help(t), "\n  "+cmd.Name()+" ") {
				t.Errorf("ceteris --help does not list %s", cmd.Name())
			}
		})
	}
}

// An example that the program itself refuses is none.
func TestExamplesParse(t *testing.T) {
	root := newRootCommand(&app{out: io.Discard, err: &screen{w: io.Discard}}, strings.NewReader(""))
	for _, cmd := range append(root.Commands(), root) {
		for line := range strings.Lines(cmd.Example) {
			t.Run(strings.TrimSpace(line), func(t *testing.T) { checkExample(t, root, line) })
		}
	}
}

func checkExample(t *testing.T, root *cobra.Command, line string) {
	t.Helper()
	words := split(line)
	for len(words) > 0 && !strings.HasSuffix(words[0], "ceteris") { // source <(ceteris ...)
		words = words[1:]
	}
	cmd, args, err := root.Find(words[1:])
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Fatal(err)
	}
}

// split cuts a line into words; double quotes hold one together.
func split(line string) []string {
	var words []string
	for i, part := range strings.Split(strings.NewReplacer("<(", " ", ")", " ").Replace(line), `"`) {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{"--version"}, strings.NewReader(""), &out, io.Discard, nil); code != exitOK || out.String() != "ceteris version "+version+"\n" {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}
