//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"testing"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// The test binary is the target too, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == targetMode {
		if err := target.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(exitFault)
		}
		os.Exit(exitDone)
	}
	if len(os.Args) == 3 && os.Args[1] == fetchMode {
		if err := fetch(os.Args[2]); err != nil {
			os.Exit(exitFault)
		}
		os.Exit(exitDone)
	}
	os.Exit(m.Run())
}

// started is a bench with a target, both of two rounds.
func started(t *testing.T) (*bench, *bytes.Buffer) {
	t.Helper()
	allowed, err := cores()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	// One core will do where nothing is measured.
	b := &bench{options: options{repeats: 2, cores: []int{allowed[0], allowed[len(allowed)-1]}}, dir: t.TempDir(), log: &log, random: rand.New(rand.NewPCG(1, 0))}
	stop, err := b.startTarget(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return b, &log
}

// fetcher is a tool that sends seven requests: this binary again.
func fetcher(t *testing.T) *tool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &tool{name: ours, path: self, invoke: func(j job) (invocation, error) {
		return invocation{args: []string{fetchMode, j.url()}}, nil
	}}
}

// fetchMode is the argument before the URL with which this binary is a fetcher.
const fetchMode = "fetch"

func fetch(url string) error {
	for range 7 {
		resp, err := http.Get(url)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		resp.Body.Close()
	}
	return nil
}
