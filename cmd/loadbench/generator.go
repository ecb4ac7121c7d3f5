//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The limits of the built-in generator in a plain job: more than ever comes to be
// needed, so that none of them shapes the load.
const (
	plentyInFlight = 4000
	patience       = 3 * time.Second // timeout of a request, longer than a stall
)

// loadgen sends a job with the built-in generator.
func loadgen(j job) (invocation, error) { return planned(j, plan(j), "") }

// plan is the load of a job.
func plan(j job) experiment.Load {
	l := experiment.Load{
		Targets:  []string{j.address},
		Requests: []experiment.Request{{Weight: 1, Method: "GET", Path: text("/")}},
		Measure:  j.window, Timeout: patience, Connections: j.connections, KeepAlive: true, Seed: 1,
	}
	if j.rate > 0 {
		l.Open = &experiment.OpenLoad{Rate: float64(j.rate), InFlight: plentyInFlight}
	} else {
		l.Closed = &experiment.ClosedLoad{Users: j.connections}
	}
	return l
}

// text is a text of a request as it stands in a matrix.
func text(source string) experiment.Template {
	t, err := experiment.ParseTemplate(source, experiment.Pos{})
	if err != nil {
		panic(err) // a constant
	}
	return t
}

// planned calls the generator with a load and, where there are any, the data of its
// requests.
func planned(j job, l experiment.Load, data string) (invocation, error) {
	plan, err := json.Marshal(l)
	if err != nil {
		return invocation{}, fmt.Errorf("write the plan: %w", err)
	}
	inv := invocation{env: []string{experiment.GeneratorEnv + "=" + string(plan)}}
	if data == "" {
		return inv, nil
	}
	file, err := save(j.dir, "data.csv", data)
	inv.env = append(inv.env, experiment.DataEnv+"="+file)
	return inv, err
}

// numbered makes every request of a load carry its number, from 0, to n-1.
func numbered(l experiment.Load, n int) (experiment.Load, string) {
	l.Requests[0].Path = text("/?${data:n}")
	l.Data = &experiment.DataFeed{Columns: []string{"n"}, Rows: n}
	var b strings.Builder
	b.WriteString("n\n")
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return l, b.String()
}
