package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// ceterisHere runs the program in this process on a database, and gives what it printed.
func ceterisHere(t *testing.T, database string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append([]string{"--db", database}, args...), strings.NewReader(""), &out, &errs, []string{t.TempDir()}); code != exitOK {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// picky reads what begins with its name; what ends in dots was cut off.
type picky string

// ReadOutput implements experiment.OutputReader.
func (p picky) ReadOutput(r io.Reader, _ experiment.Span) (experiment.LoadResult, error) {
	text, err := io.ReadAll(r)
	switch {
	case err != nil:
		return experiment.LoadResult{}, err
	case !strings.HasPrefix(string(text), string(p)):
		return experiment.LoadResult{}, errors.New("of another tool")
	case strings.HasSuffix(string(text), "..."):
		return experiment.LoadResult{}, experiment.ErrIncomplete
	default:
		return experiment.LoadResult{}, nil
	}
}

func TestDetect(t *testing.T) {
	all := map[string]experiment.OutputReader{"a": picky("wr"), "b": picky("wrk"), "c": picky("hey"), "d": reluctant{}}
	for _, tt := range []struct{ name, data, want string }{
		{"one reads it", "hey", "c"},
		{"one reads a part of it", "hey...", "c"},
		{"two read it", "wrk", "it may be of a or b"},
		{"two read a part of it", "wrk...", "it may be of a or b"},
		{"whole for one, cut off for another", "wrote+", "a"},
		{"none", "ab", "no reader knows it"},
		{"nothing is there", "", "result incomplete: it is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := detect(all, []byte(tt.data))
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// reluctant takes what ends in a plus for a part of its own.
type reluctant struct{}

// ReadOutput implements experiment.OutputReader.
func (reluctant) ReadOutput(r io.Reader, _ experiment.Span) (experiment.LoadResult, error) {
	text, err := io.ReadAll(r)
	switch {
	case err != nil:
		return experiment.LoadResult{}, err
	case strings.HasSuffix(string(text), "+"):
		return experiment.LoadResult{}, experiment.ErrIncomplete
	default:
		return experiment.LoadResult{}, errors.New("of another tool")
	}
}

// TestImportInAnyOrder: whatever the order in which files are imported, cells and
// rounds mixed, the analysis is the same.
func TestImportInAnyOrder(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 7))
	var calls [][]string
	for c, cell := range []string{"baseline", "control", "log_level=off", "pool=8", "pool=64", "log_level=off,pool=64"} {
		for round := 1; round <= 4; round++ {
			file := filepath.Join(dir, fmt.Sprintf("%d-%d.json", c, round))
			n := 10000 + 500*c + rng.IntN(300)
			text := fmt.Sprintf(`{"metrics": {"http_reqs": {"count": %d, "rate": %d}, "http_req_failed": {"passes": 0, "fails": %d},
				"http_req_duration{expected_response:true}": {"med": %d, "p(99)": %d}}}`, n, n/10, n, 5+c, 20+rng.IntN(9))
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, []string{"import", "--sweep", "week", "--cell", cell, "--round", strconv.Itoa(round), file})
		}
	}
	const queries = 2
	ask := func(database string) [queries]string {
		return [queries]string{
			ceterisHere(t, database, "export", "--format", "csv"),
			ceterisHere(t, database, "sql", "--format", "csv", `select label, round, metric, value from run_metrics order by 1, 2, 3`),
		}
	}
	var want [queries]string
	for order := range 4 {
		database := filepath.Join(dir, fmt.Sprintf("%d.db", order))
		for _, call := range calls {
			ceterisHere(t, database, call...)
		}
		got := ask(database)
		if order == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("order %d: %s", order, diff)
		}
		rng.Shuffle(len(calls), func(a, b int) { calls[a], calls[b] = calls[b], calls[a] })
	}
	if !strings.Contains(want[0], ",pool,64,throughput,1/s,") {
		t.Errorf("no analysis: %s", want[0])
	}
}
