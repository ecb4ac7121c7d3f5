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
