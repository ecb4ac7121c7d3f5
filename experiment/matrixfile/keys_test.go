package matrixfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// edited gives the base matrix with texts replaced, each once.
func edited(t *testing.T, replace ...string) string {
	t.Helper()
	src := string(readFile(t, "testdata/base.yaml"))
	for i := 0; i < len(replace); i += 2 {
		if strings.Count(src, replace[i]) != 1 {
			t.Fatalf("%q stands %d times in the matrix", replace[i], strings.Count(src, replace[i]))
		}
		src = strings.Replace(src, replace[i], replace[i+1], 1)
	}
	return src
}

// asJSON is how a part of a matrix is compared: templates in their source form,
// without positions.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	inApp    = "      ports: [8080]\n" // where keys of the service app are added
	atTop    = "repeat: {rounds: 3, seed: 7}\n"
	request  = `request: {path: "/x?user=${random:1..9}"}`
	shape    = "  closed: {users: 64}\n  warmup: 1s\n  measure: 4s\n"
	levels   = "  latency: [200us, 2ms]\n"
	confirms = `        - {http: ":8080/config", json: {threads: .threads}, is: {threads: "${threads}"}}` + "\n"
)

func app(m *experiment.Matrix) experiment.ServiceSpec { return m.Subject.Services[1] }

// TestServiceKeys reads each key of a service.
func TestServiceKeys(t *testing.T) {
	for _, c := range []struct {
		name, key string
		get       func(experiment.ServiceSpec) any
		want      string
	}{
		{
			"files", `files: {/etc/app.conf: "threads ${threads} $${x}"}`,
			func(s experiment.ServiceSpec) any { return s.Files }, `[{"path":"/etc/app.conf","content":"threads ${threads} $${x}"}]`,
		},
		{
			"container", `container: {tmpfs: ["/tmp:size=64m"], shm_size: 64MiB, sysctls: {net.core.somaxconn: 1024}, cap_add: [NET_ADMIN], platform: linux/amd64, user: "1000:1000"}`,
			func(s experiment.ServiceSpec) any { return s.Container },
			`{"tmpfs":["/tmp:size=64m"],"shm_size":"64MiB","sysctls":[{"name":"net.core.somaxconn","value":"1024"}],"cap_add":["NET_ADMIN"],"platform":"linux/amd64","user":"1000:1000"}`,
		},
		{
			"ulimits", `container: {ulimits: {nofile: 1024, nproc: {soft: 4, hard: "${threads}"}, core: -1}}`,
			func(s experiment.ServiceSpec) any { return s.Container.Ulimits },
			`[{"name":"nofile","soft":"1024","hard":"1024"},{"name":"nproc","soft":"4","hard":"${threads}"},{"name":"core","soft":"-1","hard":"-1"}]`,
		},
		{
			"mounts", `mounts: ["./conf:/etc/app:ro", "/srv:/srv", "./d/${threads}:/d:rw"]`,
			func(s experiment.ServiceSpec) any { return s.Mounts },
			`[{"source":"./conf","target":"/etc/app","read_only":true},{"source":"/srv","target":"/srv","read_only":false},{"source":"./d/${threads}","target":"/d","read_only":false}]`,
		},
		{
			"volumes", `volumes: ["data:/var/lib/app", "shared:/shared:ro"]`,
			func(s experiment.ServiceSpec) any { return s.Volumes },
			`[{"name":"data","target":"/var/lib/app"},{"name":"shared","target":"/shared","read_only":true}]`,
		},
		{"replicas", `replicas: "${threads}"`, func(s experiment.ServiceSpec) any { return s.Replicas }, `"${threads}"`},
		{"role", "role: backing", func(s experiment.ServiceSpec) any { return s.Role }, `"backing"`},
		{
			"prepare", `prepare: [{run: [seed, "${threads}"]}]`, func(s experiment.ServiceSpec) any { return s.Prepare },
			`{"steps":[{"run":["seed","${threads}"],"within":600000000000}]}`,
		},
		{
			"prepare with snapshot", `prepare: {snapshot: true, steps: [{run: [seed], within: 1m}]}` + "\n      volumes: [\"data:/d\"]",
			func(s experiment.ServiceSpec) any { return s.Prepare }, `{"steps":[{"run":["seed"],"within":60000000000}],"snapshot":true}`,
		},
		{
			"collect", `collect: [{http: ":8080/s", json: {hits: .hits}, delta: [hits], unit: count, better: higher}]`,
			func(s experiment.ServiceSpec) any { return s.Collect },
			`[{"http":":8080/s","json":[{"name":"hits","path":".hits"}],"unit":"count","better":"higher","within":10000000000,"moments":["start","end"],"delta":["hits"]}]`,
		},
		{
			"collect during", `collect: [{run: [stat], csv: {rows: n}, at: during, every: 2s, only: {threads: 8}}]`,
			func(s experiment.ServiceSpec) any { return s.Collect },
			`[{"run":["stat"],"csv":[{"name":"rows","path":"n"}],"only":[{"factor":"threads","levels":["8"]}],"within":10000000000,"moments":["during"],"every":2000000000}]`,
		},
		{
			"collect to keep", `collect: [{file: /var/log/gc.log, keep: gc.log, in: redis}]`,
			func(s experiment.ServiceSpec) any { return s.Collect },
			`[{"in":"redis","file":"/var/log/gc.log","within":10000000000,"keep":"gc.log"}]`,
		},
		{
			"scrape", `scrape: {url: ":8080/metrics", metrics: [a, b]}`, func(s experiment.ServiceSpec) any { return s.Scrape },
			`[{"url":":8080/metrics","every":1000000000,"metrics":[{"name":"a","selector":"a"},{"name":"b","selector":"b"}]}]`,
		},
		{
			"scrape of series", `scrape: [{url: ":8080/m", every: 5s, metrics: {open: 'c{state="open",x="y"}', size: {of: heap, unit: B, better: lower}}}]`,
			func(s experiment.ServiceSpec) any { return s.Scrape },
			`[{"url":":8080/m","every":5000000000,"metrics":[{"name":"open","selector":"c{state=\"open\",x=\"y\"}"},{"name":"size","selector":"heap","unit":"B","better":"lower"}]}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, edited(t, inApp, inApp+"      "+c.key+"\n"))
			if diff := cmp.Diff(asJSON(t, c.get(app(m))), c.want); diff != "" {
				t.Errorf("read (-got +want):\n%s", diff)
			}
		})
	}
}

// TestSteps reads each key of a step.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ step, want string }{
		{
			`{in: redis, run: [redis-cli, info], regex: "threads:(?P<n>[0-9]+)", is: {n: "${threads}"}, at: after}`,
			`[{"in":"redis","run":["redis-cli","info"],"regex":"threads:(?P\u003cn\u003e[0-9]+)","is":[{"name":"n","value":"${threads}"}],"when":"after","within":10000000000}]`,
		},
		{
			`{image: "curl:8", run: [curl, "${addr:redis:6379}"], has: ok, at: before, within: 3s}`,
			`[{"image":"curl:8","run":["curl","${addr:redis:6379}"],"has":"ok","within":3000000000}]`,
		},
		{`{log: started}`, `[{"log":"started","within":10000000000}]`},
		{
			`{file: /etc/app.conf, has: "threads ${threads}", only: {threads: [8], latency: 2ms}}`,
			`[{"file":"/etc/app.conf","has":"threads ${threads}","only":[{"factor":"threads","levels":["8"]},{"factor":"latency","levels":["2ms"]}],"within":10000000000}]`,
		},
		{
			`{run: [cat, sizes], csv: {size: bytes}, near: {size: "${threads} ± 5%"}}`,
			`[{"run":["cat","sizes"],"csv":[{"name":"size","path":"bytes"}],"near":[{"name":"size","value":"${threads}","share":0.05}],"within":10000000000}]`,
		},
		{
			`{run: [cat], json: {a: .a}, near: {a: "-4+-0.1"}}`,
			`[{"run":["cat"],"json":[{"name":"a","path":".a"}],"near":[{"name":"a","value":"-4","share":0.1}],"within":10000000000}]`,
		},
	} {
		t.Run(c.step, func(t *testing.T) {
			m := parse(t, edited(t, confirms, "        - "+c.step+"\n"))
			if diff := cmp.Diff(asJSON(t, app(m).Confirm), c.want); diff != "" {
				t.Errorf("read (-got +want):\n%s", diff)
			}
		})
	}
}

// TestBuildOfContext reads what an image is built from, and takes its process form
// where there is no engine.
func TestBuildOfContext(t *testing.T) {
	m := parse(t, edited(t, "build: {go: ../cmd/app}",
		`build: {context: ../app, dockerfile: dev/Dockerfile, args: {N: "${threads}"}, before: [make, assets]}`+
			"\n      process: {build: {go: ../cmd/app}, files: {/etc/x: y}}"))
	p, err := m.ForRunner(experiment.RunnerDocker).Plan(m.Cells()[0])
	if err != nil {
		t.Fatal(err)
	}
	want := &experiment.Build{
		Context: "/app", Dockerfile: "dev/Dockerfile", Args: []experiment.KeyValue{{Key: "N", Value: "32"}}, Before: []string{"make", "assets"},
	}
	if diff := cmp.Diff(p.Services[1].Build, want); diff != "" {
		t.Errorf("build (-got +want):\n%s", diff)
	}
	if err := m.ForRunner(experiment.RunnerProcess).ValidateRunner(); err != nil {
		t.Errorf("as a process: %v", err)
	}
}

// TestJob reads a service that ends.
func TestJob(t *testing.T) {
	for _, c := range []struct{ key, want string }{
		{"job: true", "true 10m0s"}, {"job: {within: 30m}", "true 30m0s"}, {"job: false", "false 0s"},
	} {
		m := parse(t, edited(t, "    app:\n", "    seed:\n      image: seed:1\n      needs: [redis]\n      "+c.key+"\n    app:\n"))
		s := m.Subject.Services[1]
		if got := asJSON(t, s.Job) + " " + s.JobWithin.String(); got != c.want {
			t.Errorf("%s gave %s, want %s", c.key, got, c.want)
		}
	}
}

// TestTopKeys reads each key beside subject, factors and load.
func TestTopKeys(t *testing.T) {
	for _, c := range []struct {
		name, key string
		get       func(*experiment.Matrix) any
		want      string
	}{
		{
			"prepare", `prepare: [{in: app, run: [seed]}, {image: "seed:1", run: [seed, "${addr:app:8080}"]}]`,
			func(m *experiment.Matrix) any { return m.Prepare },
			`[{"in":"app","run":["seed"],"within":600000000000},{"image":"seed:1","run":["seed","${addr:app:8080}"],"within":600000000000}]`,
		},
		{
			"collect", `collect: [{image: "du:1", run: [du], regex: "(?P<size>[0-9]+)", unit: B}]`,
			func(m *experiment.Matrix) any { return m.Collect },
			`[{"image":"du:1","run":["du"],"regex":"(?P\u003csize\u003e[0-9]+)","unit":"B","within":10000000000}]`,
		},
		{
			"metrics", `metrics: {per_core: {of: "throughput / app.cpu", unit: 1/s, better: higher}}`,
			func(m *experiment.Matrix) any { return m.Metrics },
			`[{"name":"per_core","of":"throughput / app.cpu","unit":"1/s","better":"higher"}]`,
		},
		{"requires", "requires: {cores: 8, memory: 16GiB}", func(m *experiment.Matrix) any { return m.Requires }, `{"cores":8,"memory":17179869184}`},
		{"on_finish", "on_finish: [notify, done]", func(m *experiment.Matrix) any { return m.OnFinish }, `["notify","done"]`},
		{"sweep as it is anyway", "sweep: one-at-a-time", func(m *experiment.Matrix) any { return m.Design }, `{}`},
		{
			"sweep of a grid", "sweep: grid\nexcept: [{threads: 8, latency: 2ms}]", func(m *experiment.Matrix) any { return m.Design },
			`{"kind":"grid","except":[{"settings":[{"factor":"threads","level":"8"},{"factor":"latency","level":"2ms"}]}]}`,
		},
		{
			"cells alone", "cells: [{threads: 8, latency: 2ms}]", func(m *experiment.Matrix) any { return m.Design },
			`{"kind":"cells","cells":[{"settings":[{"factor":"threads","level":"8"},{"factor":"latency","level":"2ms"}]}]}`,
		},
		{
			"cells beside", "sweep: one-at-a-time\ncells: [{threads: 8, latency: 2ms}]", func(m *experiment.Matrix) any { return labels(m) },
			`["baseline","control","threads=8","latency=2ms","threads=8,latency=2ms"]`,
		},
		{
			"interactions", "interactions: [[threads, latency]]", func(m *experiment.Matrix) any { return labels(m) },
			`["baseline","control","threads=8","latency=2ms","threads=8,latency=2ms"]`,
		},
		{
			"stages", "stages: [{name: first}, {name: second, baseline: {latency: 2ms}}]", func(m *experiment.Matrix) any { return m.Design.Stages },
			`[{"name":"first"},{"name":"second","baseline":[{"factor":"latency","level":"2ms"}]}]`,
		},
		{
			"across", "across: [latency]", func(m *experiment.Matrix) any { return labels(m) },
			`["baseline latency=200us","baseline latency=2ms","control latency=200us","control latency=2ms","threads=8 latency=200us","threads=8 latency=2ms"]`,
		},
		{"control", "control: false", func(m *experiment.Matrix) any { return labels(m) }, `["baseline","threads=8","latency=2ms"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, edited(t, atTop, c.key+"\n"))
			if diff := cmp.Diff(asJSON(t, c.get(m)), c.want); diff != "" {
				t.Errorf("read (-got +want):\n%s", diff)
			}
		})
	}
}

func labels(m *experiment.Matrix) []string {
	var out []string
	for _, c := range m.Cells() {
		out = append(out, strings.TrimSpace(c.Label()+" "+c.Condition))
	}
	return out
}

// TestLevels reads the forms of levels and where a factor exists.
func TestLevels(t *testing.T) {
	m := parse(t, edited(t, levels, levels+`  io:
    baseline: one
    only: {threads: [32]}
    levels:
      - null
      - {name: one, is: {threads: 1, cpus: 0.5}}
      - {name: "4", is: {threads: 4, cpus: "4"}, set: {services: {app: {limits: {pids: 99}}}}}
`, `THREADS: "${threads}"`, `THREADS: "${threads}"
        IO: "${io.threads}"
        MODE: "${io}"`))
	want := `{"name":"io","levels":[{"text":"null","unset":true},` +
		`{"text":"one","is":[{"key":"threads","value":"1"},{"key":"cpus","value":"0.5"}]},` +
		`{"text":"4","is":[{"key":"threads","value":"4"},{"key":"cpus","value":"4"}],"set":true}],"baseline":1,` +
		`"only":[{"factor":"threads","levels":["32"]}]}`
	if diff := cmp.Diff(asJSON(t, m.Factors[2]), want); diff != "" {
		t.Errorf("factor (-got +want):\n%s", diff)
	}
	for label, want := range map[string][2]string{
		"io=null": {"", ""}, "io=4": {"4", "4"}, "baseline": {"1", "one"},
	} {
		p := plan(t, m, label)
		got := map[string]string{}
		for _, e := range p.Services[1].Env {
			got[e.Name] = e.Value.String()
		}
		if got["IO"] != want[0] || got["MODE"] != want[1] {
			t.Errorf("%s: IO %q and MODE %q, want %q", label, got["IO"], got["MODE"], want)
		}
	}
}

// plan plans the cell of a label.
func plan(t *testing.T, m *experiment.Matrix, label string) experiment.CellPlan {
	t.Helper()
	for _, c := range m.Cells() {
		if c.Label() == label {
			p, err := m.Plan(c)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("there is no cell %s among %v", label, labels(m))
	return experiment.CellPlan{}
}

// TestLoadKeys reads each form of a load.
func TestLoadKeys(t *testing.T) {
	asked := "  " + request + "\n"
	for _, c := range []struct {
		name    string
		replace []string
		want    string
		judge   string // by what: the metric and the service levels
	}{
		{name: "none", replace: []string{"\n  to: app:8080\n" + asked + shape, " none\n", "metric: throughput", "metric: redis.ready_seconds"}, want: `{"none":true,"keep_alive":false}`, judge: "redis.ready_seconds"},
		{
			name: "open", replace: []string{"closed: {users: 64}", "open: {rate: 9/s, arrivals: poisson, when_full: queue}\n  streams: [{after: 2s, open: {rate: 1/s, arrivals: constant, when_full: drop}}]"},
			want: `{"service":"app","port":8080,"requests":[{"method":"GET","path":"/x?user=${random:1..9}"}],"open":{"rate":"9/s","in_flight":"1000","arrivals":"poisson","when_full":"queue"},` +
				`"streams":[{"after":"2s","open":{"rate":"1/s","in_flight":"1000"}}],"ramp":"0s","warmup":{"for":"1s"},"measure":{"for":"4s"},"timeout":"10s","keep_alive":true}`,
		},
		{
			name: "over TLS and HTTP/2", replace: []string{"closed: {users: 64}", "open: {rate: 9/s, catch_up: burst}\n  tls: {server_name: shop.example, skip_verify: true}\n  http: 2"},
			want: `{"service":"app","port":8080,"requests":[{"method":"GET","path":"/x?user=${random:1..9}"}],"open":{"rate":"9/s","in_flight":"1000","catch_up":"burst"},` +
				`"ramp":"0s","warmup":{"for":"1s"},"measure":{"for":"4s"},"timeout":"10s","keep_alive":true,"tls":{"server_name":"shop.example","skip_verify":true},"http2":true}`,
		},
		{
			name: "steady and fixed work", replace: []string{"warmup: 1s", "warmup: {until: steady, at_least: 1s}", "measure: 4s", "measure: {requests: 5000}\n  connections: 8\n  keep_alive: false\n  timeout: 1s"},
			want: `{"service":"app","port":8080,"requests":[{"method":"GET","path":"/x?user=${random:1..9}"}],"closed":{"users":"64","think":"0s"},` +
				`"ramp":"0s","warmup":{"until":"steady","at_least":"1s","at_most":"60s"},"measure":{"requests":"5000","at_most":"10m0s"},"timeout":"1s","connections":"8","keep_alive":false}`,
		},
		{
			name: "requests", replace: []string{request, `requests:
    - {name: search, weight: 9, path: /s, headers: {Accept: "*/*", X-User: "${random:1..5}"}, expect: {status: [200, 3xx], has: ok}, slo: {p95: 300ms, max: 2s}}
    - {name: buy, method: POST, path: /b, body: "x=${random:1..2}", slo: {p99: 1s}}`},
			want: `{"service":"app","port":8080,"requests":[` +
				`{"name":"search","weight":"9","method":"GET","path":"/s","headers":[{"name":"Accept","value":"*/*"},{"name":"X-User","value":"${random:1..5}"}],"expect":{"status":["200","3xx"],"has":"ok"}},` +
				`{"name":"buy","method":"POST","path":"/b","body":"x=${random:1..2}"}],"closed":{"users":"64","think":"0s"},"ramp":"0s","warmup":{"for":"1s"},"measure":{"for":"4s"},"timeout":"10s","keep_alive":true}`,
			judge: `throughput [{"metric":"latency_p95{search}","limit":0.3},{"metric":"latency_max{search}","limit":2},{"metric":"latency_p99{buy}","limit":1}]`,
		},
		{
			name: "one request with a service level", replace: []string{`"/x?user=${random:1..9}"}`, `/, slo: {p50: 1ms}}`},
			judge: `throughput [{"metric":"latency_p50","limit":0.001}]`,
		},
		{
			name: "phases", replace: []string{shape, `  phases:
    - {name: calm, closed: {users: 4}, for: 2s}
    - {name: spike, open: {rate: 9/s}, ramp: 1s, measure: true}
    - {name: rest, idle: true, for: 3s}
    - {name: after, open: {rate: 9/s}, for: 5s, measure: true}
`, "metric: throughput, ", "", `"/x?user=${random:1..9}"}`, `/, slo: {p50: 1ms}}`},
			want: `{"service":"app","port":8080,"requests":[{"method":"GET","path":"/"}],"phases":[` +
				`{"name":"calm","closed":{"users":"4","think":"0s"},"for":"2s","ramp":"0s"},` +
				`{"name":"spike","open":{"rate":"9/s","in_flight":"1000"},"for":"20s","ramp":"1s","measure":true},` +
				`{"name":"rest","for":"3s","ramp":"0s"},{"name":"after","open":{"rate":"9/s","in_flight":"1000"},"for":"5s","ramp":"0s","measure":true}],"timeout":"10s","keep_alive":true}`,
			judge: `spike:throughput [{"metric":"spike:latency_p50","limit":0.001},{"metric":"after:latency_p50","limit":0.001}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, edited(t, c.replace...))
			if diff := cmp.Diff(asJSON(t, m.Load), c.want); diff != "" && c.want != "" {
				t.Errorf("load (-got +want):\n%s", diff)
			}
			rule := m.Judge.Metric
			if m.Judge.Objectives != nil {
				rule += " " + asJSON(t, m.Judge.Objectives)
			}
			if c.judge != "" && rule != c.judge {
				t.Errorf("judged by %s, want %s", rule, c.judge)
			}
		})
	}
}

// TestSaidOrNot: a matrix that says what would be so anyway is the same sweep.
func TestSaidOrNot(t *testing.T) {
	const build, request, ready = "build: {go: ../cmd/app}", `request: {path: "/x?user=${random:1..9}"}`, `ready: {http: ":8080/healthz"}`
	for name, c := range map[string][2][]string{
		"replicas":   {nil, {inApp, inApp + "      replicas: 1\n"}},
		"role":       {nil, {inApp, inApp + "      role: subject\n"}},
		"dockerfile": {{build, "build: {context: app}"}, {build, "build: {context: app, dockerfile: Dockerfile}"}},
		"weight":     {nil, {request, `request: {path: "/x?user=${random:1..9}", weight: 1, method: GET}`}},
		"requests":   {nil, {request, `requests: [{path: "/x?user=${random:1..9}"}]`}},
		"times":      {{ready, "ready: {log: up}"}, {ready, "ready: {log: up, times: 1, within: 60s}"}},
		"job": {
			{ready, "job: true", "      confirm:\n" + confirms, "", "  to: app:8080", "  to: redis:6379"},
			{ready, "job: {within: 10m}", "      confirm:\n" + confirms, "", "  to: app:8080", "  to: redis:6379"},
		},
		"confirm": {nil, {`is: {threads: "${threads}"}}`, `is: {threads: "${threads}"}, at: before, within: 10s}`}},
		"sweep":   {nil, {atTop, atTop + "sweep: one-at-a-time\ncontrol: true\nplace: {subject: auto}\n"}},
		"load":    {nil, {shape, shape + "  ramp: 0s\n  timeout: 10s\n  keep_alive: true\n  tls: false\n  http: 1.1\n"}},
		"open":    {{"closed: {users: 64}", "open: {rate: 9/s}"}, {"closed: {users: 64}", "open: {rate: 9/s, catch_up: spread}"}},
		"collect": {
			{inApp, inApp + `      collect: [{log: x, keep: x}, {run: [x], json: {a: .a}, delta: [a]}]` + "\n"},
			{inApp, inApp + `      collect: [{log: x, keep: x, at: end}, {run: [x], json: {a: .a}, delta: [a], at: [start, end]}]` + "\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			unsaid, said := parse(t, edited(t, c[0]...)), parse(t, edited(t, c[1]...))
			if diff := cmp.Diff(asJSON(t, unsaid), asJSON(t, said)); diff != "" || unsaid.Hash() != said.Hash() {
				t.Errorf("another sweep (-unsaid +said):\n%s", diff)
			}
		})
	}
}

// TestRepeatKeys reads a fixed number of rounds and the rules; a rule is no part of what
// a sweep is.
func TestRepeatKeys(t *testing.T) {
	fixed := parse(t, edited(t))
	for src, want := range map[string]string{
		"{seed: 7}":                       `{"rounds":5,"seed":7}`,
		"{until: precise, seed: 7}":       `{"rounds":30,"seed":7,"until":"precise","at_most":30}`,
		"{until: precise, within: 1.5%}":  `{"rounds":30,"seed":1,"until":"precise","within":0.015,"at_most":30}`,
		"{until: decided, at_most: 1000}": `{"rounds":1000,"seed":1,"until":"decided","at_most":1000}`,
		"{until: decided, at_most: 5}":    `{"rounds":5,"seed":1,"until":"decided","at_most":5}`,
	} {
		m := parse(t, edited(t, "{rounds: 3, seed: 7}", src))
		if diff := cmp.Diff(asJSON(t, m.Repeat), want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", src, diff)
		}
		if same := m.Hash() == fixed.Hash(); same != (m.Repeat.Seed == 7) {
			t.Errorf("%s: the same sweep as with a fixed number: %v", src, same)
		}
	}
}
