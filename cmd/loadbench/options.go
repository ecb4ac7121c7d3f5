//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The modes, in the order in which they run.
const (
	modeClosed      = "closed"
	modeOpen        = "open"
	modeStall       = "stall"
	modeConnections = "connections"
	modeAll         = "all"
)

func modes() []string { return []string{modeClosed, modeOpen, modeStall, modeConnections} }

// formats of the outcome.
func formats() []string { return []string{"text", "md", "json"} }

// options are what the command line says.
type options struct {
	modes   []string
	only    []string // names of peers; none: all
	repeats int      // pairs of each peer
	window  time.Duration
	rates   []int // of open loads
	seed    uint64
	cores   []int // of the target, of the generator
	get     bool  // missing tools are installed
	slow    bool  // also those that take minutes to build
	cache   string
	format  string
	check   bool
}

// compares reports whether a peer is wanted, be it there or not.
func (o options) compares(peer string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, peer)
}

// parseOptions reads the command line. The error is flag.ErrHelp where help was asked for.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("loadbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	mode := flags.String("mode", modeAll, "what is measured: "+strings.Join(modes(), ", ")+", several of them separated by commas, or "+modeAll)
	only := flags.String("only", "", "compare with these `PEERS` alone, separated by commas")
	rates := flags.String("rates", "1000,5000,10000,20000", "rates of open loads, a second")
	on := flags.String("cores", "", "the cores of target and generator; by default the first two that are allowed")
	flags.IntVar(&o.repeats, "pairs", 4, "pairs with each peer; an even number lets both begin equally often")
	flags.DurationVar(&o.window, "window", 5*time.Second, "how long each tool sends, whole seconds: its start is counted, so it must be small beside it")
	flags.Uint64Var(&o.seed, "seed", 1, "of the order of the peers")
	flags.BoolVar(&o.get, "install", true, "get peers that are missing: apt-get as root, Go modules into the cache")
	flags.BoolVar(&o.slow, "k6", false, "build k6 where it is not on the PATH, which takes minutes")
	flags.StringVar(&o.cache, "cache", "", "`DIR` of the peers that are Go modules; by default one of the user's cache")
	flags.StringVar(&o.format, "format", "text", "of the outcome: "+strings.Join(formats(), ", "))
	flags.BoolVar(&o.check, "check", false, "exit with 1 when a goal is missed, or not measured because a peer is")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.modes, o.only = list(*mode), list(*only)
	if slices.Equal(o.modes, []string{modeAll}) {
		o.modes = modes()
	}
	var errRates, errCores error
	o.rates, errRates = numbers("rates", *rates, 1)
	o.cores, errCores = numbers("cores", *on, 0)
	return o, errors.Join(errRates, errCores, o.complete(flags.Args()))
}

// complete fills what has a default of the host, and checks all.
func (o *options) complete(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if len(o.cores) == 0 {
		allowed, err := cores()
		if err != nil {
			return fmt.Errorf("which cores are allowed: %w", err)
		}
		o.cores = allowed[:min(2, len(allowed))]
	}
	if o.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no place for peers, give -cache: %w", err)
		}
		o.cache = filepath.Join(dir, "ceteris", "loadbench")
	}
	names := each(peers(), func(t *tool) string { return t.name })
	switch {
	case unknown(o.modes, modes()) != "":
		return fmt.Errorf("-mode %s: it is one of %s, or %s", unknown(o.modes, modes()), strings.Join(modes(), ", "), modeAll)
	case unknown(o.only, names) != "":
		return fmt.Errorf("-only %s: the peers are %s", unknown(o.only, names), strings.Join(names, ", "))
	case !slices.Contains(formats(), o.format):
		return fmt.Errorf("-format %s: it is one of %s", o.format, strings.Join(formats(), ", "))
	case o.repeats < 1:
		return fmt.Errorf("-pairs %d: at least one is wanted", o.repeats)
	case o.window < time.Second || o.window%time.Second != 0:
		return fmt.Errorf("-window %s: whole seconds are wanted", o.window)
	case len(o.cores) != 2 || o.cores[0] == o.cores[1]:
		return fmt.Errorf("cores %v: target and generator want one each", o.cores)
	}
	return nil
}

// list splits at commas.
func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// numbers reads whole ones, none less than least.
func numbers(name, text string, least int) ([]int, error) {
	var out []int
	for _, one := range list(text) {
		n, err := strconv.Atoi(one)
		if err != nil || n < least {
			return nil, fmt.Errorf("-%s %s: %q is no number above %d", name, text, one, least-1)
		}
		out = append(out, n)
	}
	return out, nil
}

// unknown gives the first that is not among those known.
func unknown(all, known []string) string {
	for _, one := range all {
		if !slices.Contains(known, one) {
			return one
		}
	}
	return ""
}
