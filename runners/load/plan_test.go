package load

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func template(t testing.TB, s string) experiment.Template {
	t.Helper()
	tmpl, err := experiment.ParseTemplate(s, experiment.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func TestParsePlan(t *testing.T) {
	want := experiment.Load{
		Service: "app", Port: 8080, Targets: []string{"127.0.0.1:8080"}, Requests: get(t, "/a?b=${random:1..9}"),
		Open: &experiment.OpenLoad{Rate: 400, InFlight: 1000}, Warmup: time.Second, Measure: 4 * time.Second,
		Timeout: time.Second, Connections: 7, KeepAlive: true, Seed: 1<<64 - 1,
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParsePlan(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, want, cmp.Comparer(func(a, b experiment.Template) bool { return a.String() == b.String() })); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

const goodPlan = `{"targets":["h:1"],"requests":[{"method":"GET","weight":1,"path":"/"}],"closed":{"users":3},"measure":1000000000,"timeout":1}`

func TestParsePlanFillsConnections(t *testing.T) {
	for plan, want := range map[string]int{
		goodPlan: 3,
		strings.Replace(goodPlan, `"closed":{"users":3}`, `"open":{"rate":1,"in_flight":9}`, 1): 9,
		strings.Replace(goodPlan, `"closed"`, `"connections":2,"closed"`, 1):                    2,
	} {
		if got, err := ParsePlan([]byte(plan)); err != nil || got.Connections != want {
			t.Errorf("%s: got %d and %v, want %d", plan, got.Connections, err, want)
		}
	}
}

func TestParsePlanNamesEveryFault(t *testing.T) {
	tests := map[string]struct{ old, repl, want string }{
		"no JSON":          {goodPlan, "what", "no load in JSON"},
		"unknown field":    {`"targets"`, `"traget":"x","targets"`, "traget"},
		"two values":       {goodPlan, goodPlan + goodPlan, "more than one"},
		"no target":        {`"h:1"`, `""`, "no HOST:PORT"},
		"no port":          {`"h:1"`, `"h"`, "no HOST:PORT"},
		"port 0":           {`"h:1"`, `"h:0"`, "no port"},
		"header injection": {`"h:1"`, `"h\r\nX: y:1"`, "target"},
		"method":           {`"GET"`, `"G T"`, `method "G T" is none`},
		"relative path":    {`"/"`, `"x"`, "does not begin with /"},
		"blank in path":    {`"/"`, `"/a b"`, "blanks"},
		"NUL in path":      {`"/"`, `"/\u0000"`, "NUL"},
		"factor in path":   {`"/"`, `"/${size}"`, "${size} is not resolved"},
		"no load":          {`"closed":{"users":3},`, ``, "exactly one"},
		"two loads":        {`"closed"`, `"open":{"rate":1,"in_flight":1},"closed"`, "exactly one"},
		"no user":          {`"users":3`, `"users":0`, "closed.users 0"},
		"negative think":   {`"users":3`, `"users":3,"think":-1`, "closed.think"},
		"rate":             {`"closed":{"users":3}`, `"open":{"rate":-1,"in_flight":9}`, "open.rate -1"},
		"in_flight":        {`"closed":{"users":3}`, `"open":{"rate":1,"in_flight":0}`, "open.in_flight 0"},
		"window":           {`"measure":1000000000`, `"measure":0`, "measure 0s"},
		"timeout":          {`"timeout":1`, `"timeout":0`, "timeout 0s"},
		"endless ramp":     {`"timeout":1`, `"timeout":1,"ramp":9223372036854775807`, "ramp"},
		"two streams":      {`"closed":{"users":3}`, `"open":{"rate":1,"in_flight":9},"streams":[{"after":-1,"open":{"rate":1,"in_flight":1}},{"open":{"rate":0,"in_flight":0}}]`, "streams[0].after -1ns lies outside 0s to 168h0m0s; streams[1].open.rate 0 lies outside"},
		"closed streams":   {`"closed"`, `"streams":[{"open":{"rate":1,"in_flight":1}}],"closed"`, "streams: they go with open"},
		"none":             {`"closed"`, `"none":true,"closed"`, "none: without a load"},
		"weight":           {`"weight":1`, `"weight":0`, "requests[0].weight 0"},
		"no names":         {`"requests":[`, `"requests":[{"method":"GET","weight":1,"path":"/"},`, `requests[0].name: one of several wants one`},
		"a name twice":     {`"requests":[{`, `"requests":[{"name":"a","method":"GET","weight":1,"path":"/"},{"name":"a",`, `requests[1].name "a" is there twice`},
		"a wrong name":     {`"requests":[{`, `"requests":[{"name":"a b",`, `requests[0].name "a b" is none`},
		"status":           {`"path":"/"`, `"path":"/","status":[{"from":500,"to":400}]`, "requests[0].status 500 to 400 lies outside"},
		"header":           {`"path":"/"`, `"path":"/","headers":[{"name":"a b","value":"x"}]`, `requests[0].headers: "a b" is no name of a header`},
		"column":           {`"path":"/"`, `"path":"/${data:u}"`, "requests[0].path: ${data:u}: the data has no such column"},
		"steady":           {`"timeout":1`, `"timeout":1,"warmup":5,"steady":4`, "steady 4ns is shorter than warmup, 5ns"},
		"work":             {`"timeout":1`, `"timeout":1,"work":-1`, "work -1 is negative"},
		"phases and users": {`"closed"`, `"phases":[{"name":"a","for":1000000000,"measure":true}],"closed"`, "exactly one of closed, open and phases"},
		"phases, window":   {`"closed":{"users":3}`, `"phases":[{"name":"a","for":1000000000,"measure":true}]`, "phases: ramp, warmup, steady, measure and work go with one window"},
		"phases":           {`"closed":{"users":3},"measure":1000000000`, `"phases":[{"name":"a","for":1000000000,"ramp":2000000000,"closed":{"users":1},"open":{"rate":1,"in_flight":0}},{"name":"a","for":0}]`, "phases[0]: one of closed and open is wanted, or neither; phases[0].open.in_flight 0 lies outside 1 to 1000000; phases[0].ramp 2s is longer than the phase, 1s; phases[1].name \"a\" is there twice; phases[1].for 0s lies outside 1ms to 168h0m0s; phases: none is measured"},
		"connections":      {`"timeout":1`, `"timeout":1,"connections":-1`, "connections -1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePlan([]byte(strings.Replace(goodPlan, tt.old, tt.repl, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want it to hold %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
	_, err := ParsePlan([]byte(`{}`))
	for _, field := range []string{"targets", "requests", "closed", "measure", "timeout", "connections"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("the faults of an empty plan do not name %s: %v", field, err)
		}
	}
}

func TestPathDrawsBothEnds(t *testing.T) {
	p, err := newPath(template(t, "/a/${random:-1..1}/$${b}?c=${random:7..7}"), nil)
	if err == nil {
		_, err = newPath(template(t, "/${random:-9223372036854775808..-2}"), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		seen[string(p.appendTo(nil, rng, nil))]++
	}
	for i := -1; i <= 1; i++ {
		path := "/a/" + strconv.Itoa(i) + "/${b}?c=7"
		if seen[path] < 60 {
			t.Errorf("%s was drawn %d times of 300", path, seen[path])
		}
		delete(seen, path)
	}
	if len(seen) > 0 {
		t.Errorf("also drawn: %v", seen)
	}
}

// Whatever the plan: it is refused in one line, or it can be written and read again,
// and everything can be made of it.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(goodPlan))
	for seed := range uint64(12) {
		l := randomLoad(f, rand.New(rand.NewPCG(seed, 1)), time.Second)
		if l.Targets == nil {
			l.Targets = []string{"h:1"}
		}
		if l.Requests == nil {
			l.Requests = get(f, "/")
		}
		b, err := json.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := ParsePlan(b); err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := ParsePlan(in)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParsePlan(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if c, err := json.Marshal(again); err != nil || string(c) != string(b) {
			t.Errorf("read again it is\n%s and was\n%s", c, b)
		}
		if _, err := compile(l, l.Targets[0]); err != nil {
			t.Error(err)
		}
		events := Timeline(began(), l)
		for i := range events[1:] {
			if events[i+1].At.Before(events[i].At) {
				t.Errorf("%+v comes after %+v", events[i+1], events[i])
			}
		}
		if g := newGrid(l); l.Duration() < time.Hour {
			checkSlice(t, g, 0)
		}
	})
}
