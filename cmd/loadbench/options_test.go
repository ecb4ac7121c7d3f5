//go:build linux

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseOptions(t *testing.T) {
	var stderr bytes.Buffer
	o, err := parseOptions([]string{
		"-mode", "open,stall", "-only", "wrk,vegeta", "-pairs", "2", "-window", "7s", "-rates", "500", "-cores", "3,5",
		"-cache", "c", "-format", "json", "-check", "-install=false", "-k6", "-seed", "9",
	}, &stderr)
	want := options{
		modes: []string{"open", "stall"}, only: []string{"wrk", "vegeta"}, repeats: 2, window: 7 * time.Second, rates: []int{500},
		seed: 9, cores: []int{3, 5}, slow: true, cache: "c", format: "json", check: true,
	}
	if d := cmp.Diff(o, want, cmp.AllowUnexported(options{})); d != "" || err != nil {
		t.Errorf("%v (-got +want):\n%s", err, d)
	}
}

func TestFaultyOptions(t *testing.T) {
	for name, tt := range map[string]struct{ args, want string }{
		"mode":         {"-mode closed,what", `-mode what: it is one of closed, open`},
		"peer":         {"-only ab", "-only ab: the peers are wrk, "},
		"format":       {"-format xml", "-format xml: it is one of text, md, json"},
		"pairs":        {"-pairs 0", "-pairs 0: at least one"},
		"window":       {"-window 1500ms", "-window 1.5s: whole seconds"},
		"rates":        {"-rates 1,x", `-rates 1,x: "x" is no number above 0`},
		"a rate of 0":  {"-rates 0", `"0" is no number above 0`},
		"one core":     {"-cores 1", "cores [1]: target and generator want one each"},
		"one for both": {"-cores 1,1", "cores [1 1]"},
		"argument":     {"what", `unexpected argument "what"`},
		"flag":         {"-what", "flag provided but not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := strings.Fields(tt.args)
			if !strings.Contains(tt.args, "-cores") {
				args = append([]string{"-cores", "0,1"}, args...)
			}
			if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("exit %d, %q, want 2 and %q", code, &stderr, tt.want)
			}
		})
	}
}

func TestHelpIsNoFault(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, &stdout, &stderr); code != exitDone || !strings.Contains(stderr.String(), "-pairs") {
		t.Errorf("exit %d, %s", code, &stderr)
	}
}

func TestProgramOf(t *testing.T) {
	for module, want := range map[string]string{"fortio.org/fortio": "fortio", "github.com/tsenart/vegeta/v12": "vegeta", "go.k6.io/k6/v2": "k6"} {
		if got := programOf(module); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}

func TestParsesWhatTheKernelTells(t *testing.T) {
	const status = "Name:\tloadgen\nVmPeak:\t 99999 kB\nVmHWM:\t   61440 kB\nVmRSS:\t 1 kB\n"
	if got := highWater(status); got != 60<<20 {
		t.Errorf("high water %d", got)
	}
	if got := highWater("Name:\tkthreadd\n"); got != 0 {
		t.Errorf("high water %d where there is none", got)
	}
	before, err := parseStat("cpu  100 0 100 700 50 0 0 50 10 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	if err != nil {
		t.Fatal(err)
	}
	now, err := parseStat("cpu  250 50 150 1100 100 25 25 150 10 0\n")
	if err != nil {
		t.Fatal(err)
	}
	before.own, now.own = 3*time.Second, 5*time.Second
	// Of 8.5 s: 3 s busy, 2 of them our own; 1 s stolen.
	got := noiseBetween(before, now)
	got.Cores = 0
	if d := cmp.Diff(got, Noise{Others: 1 / 8.5, Steal: 1 / 8.5}); d != "" || got.quiet() {
		t.Errorf("(-got +want):\n%s", d)
	}
	if _, err := parseStat("intr 1"); err == nil {
		t.Error("a wrong file is read")
	}
}
