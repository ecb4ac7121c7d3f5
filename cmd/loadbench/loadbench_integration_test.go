//go:build linux && integration

package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// The generator and the target count alike, in a closed loop, at a rate, and over many
// connections; how fast is not asked of a host that does other things.
func TestMeasuresTheGenerator(t *testing.T) {
	if allowed, err := cores(); err != nil || len(allowed) < 2 {
		t.Skipf("two cores are wanted: %v, %v", allowed, err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"-install=false", "-cache", t.TempDir(), "-only", "vegeta", "-mode", "closed,open", "-rates", "500", "-pairs", "1", "-window", "1s", "-format", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	var o Outcome
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatal(err)
	}
	if o.Target.Rate <= 0 || o.Target.OnCPU < o.Target.Rate || o.Host.Cores < 2 {
		t.Errorf("target %+v, host %+v", o.Target, o.Host)
	}
	if len(o.Open.Paces) != 1 || o.Open.Paces[0].Tool != ours || o.Open.Paces[0].Achieved.Median < 0.9 || o.Open.Paces[0].Achieved.Median > 1.01 {
		t.Errorf("open %+v", o.Open)
	}
}

func TestCrowdsAndDropsAreCountedAlike(t *testing.T) {
	b, _ := started(t)
	b.only, b.cache = []string{"vegeta"}, t.TempDir() // an empty one: ours alone is built
	if err := b.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := b.crowd(t.Context(), 300, 1)
	if err != nil || c.Working != 300 || !c.Exact || c.Failed > 0 || c.Peak.Median <= 0 || c.Sending.N != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	a, err := b.drops(t.Context(), target.Stretch{Delay: stallDelay, StallAfter: time.Second, Stall: stallLength})
	if err != nil || !a.exact() {
		t.Errorf("%+v, %v", a, err)
	}
}
