package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// flagsToRepeat gives the flags that were set, as words of a command line, without
// those that are for one call only.
func flagsToRepeat(fs *pflag.FlagSet) []string {
	var words []string
	fs.Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains([]string{"new", "until", "for"}, f.Name):
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		case f.Value.Type() == "bool": // as if it were not there
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return words
}

// next gives the command that goes on with what is left; empty if nothing is. --new
// is for sweeps that were not begun: another one of a sweep that was would begin at
// its start, as would a peel of which only a later stage was not begun.
func (o *runOptions) next(turns []*turn) string {
	var begun, unbegun []string
	for _, t := range turns {
		switch {
		case t.sweep == 0 && o.fresh && t.peel.parent == 0:
			unbegun = append(unbegun, t.file)
		case !t.done():
			begun = append(begun, t.file)
		}
	}
	var commands []string
	for _, c := range []struct {
		files []string
		flags []string
	}{{begun, nil}, {unbegun, []string{"--new"}}} {
		if len(c.files) > 0 {
			commands = append(commands, quoted(slices.Concat([]string{"ceteris", cmp.Or(o.command, "run")}, o.repeat, c.flags, c.files)))
		}
	}
	return strings.Join(commands, "; ")
}

// bare is what needs no quotes in a shell.
var bare = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quoted joins words for a shell.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if !bare.MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}
