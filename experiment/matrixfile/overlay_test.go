package matrixfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

// TestOverlay shows what an overlay does to what is declared: maps merge, lists
// replace, null removes; and that the matrix as declared stays.
func TestOverlay(t *testing.T) {
	m := parse(t, edited(t, levels, levels+`  app:
    - plain
    - name: other
      set:
        services:
          app: {build: null, image: app:2, command: [run], env: {EXTRA: "1", REDIS: null}, limits: {memory: 1GiB}, confirm: null}
          cache: {image: cache:1, role: backing}
        links: []
        load: {closed: {users: 8}, request: {path: /other}}
`))
	if len(m.Variants) != 1 || asJSON(t, m.Variants[0].When) != `[{"factor":"app","level":"other"}]` {
		t.Fatalf("variants %+v", m.Variants)
	}
	plain, other := plan(t, m, "baseline"), plan(t, m, "app=other")
	want := `[{"name":"LISTEN","value":"${self:8080}"},{"name":"THREADS","value":"32"},{"name":"EXTRA","value":"1"}]`
	s := other.Services[1]
	if diff := cmp.Diff(asJSON(t, s.Env), want); diff != "" {
		t.Errorf("environment (-got +want):\n%s", diff)
	}
	if s.Build != nil || s.Image != "app:2" || asJSON(t, s.Command) != `["run"]` || s.Limits.CPUs != 1 || s.Limits.Memory != 1<<30 || s.Confirm != nil {
		t.Errorf("overlaid service %s", asJSON(t, s))
	}
	if len(other.Services) != 3 || other.Services[2].Name != "cache" || len(other.Links) != 0 {
		t.Errorf("overlaid services %d, links %d", len(other.Services), len(other.Links))
	}
	if other.Load.Closed.Users != 8 || other.Load.Requests[0].Path.String() != "/other" || other.Load.Warmup.Seconds() != 1 {
		t.Errorf("overlaid load %s", asJSON(t, other.Load))
	}
	if plain.Services[1].Build == nil || len(plain.Services) != 2 || plain.Load.Closed.Users != 64 || len(plain.Links) != 1 {
		t.Errorf("as declared %s", asJSON(t, plain))
	}
	if s.Env[2].Value.At.String() != "m.yaml:37:73" {
		t.Errorf("what the overlay put in stands at %v", s.Env[2].Value.At)
	}
}

// TestOverlaysTogether shows that each combination of levels with set that occurs has
// a variant, the later factor's overlay over that of the earlier one.
func TestOverlaysTogether(t *testing.T) {
	m := parse(t, edited(t, levels, levels+`  a: [x, {name: y, set: {services: {app: {env: {WHO: a, A: a}, limits: null}}}}]
  b: [x, {name: y, set: {services: {app: {env: {WHO: b}, limits: null}}}}]
`, atTop, "interactions: [[a, b]]\n"))
	got := map[string]string{}
	for _, label := range []string{"baseline", "a=y", "b=y", "a=y,b=y"} {
		for _, e := range plan(t, m, label).Services[1].Env[3:] {
			got[label] += e.Name + "=" + e.Value.String() + " "
		}
	}
	want := map[string]string{"a=y": "WHO=a A=a ", "b=y": "WHO=b ", "a=y,b=y": "WHO=b A=a "}
	if diff := cmp.Diff(got, want); diff != "" || len(m.Variants) != 3 {
		t.Errorf("%d variants; environment (-got +want):\n%s", len(m.Variants), diff)
	}
}

// TestOverlayCompletes: where each level puts something in place, what is declared
// need not be whole.
func TestOverlayCompletes(t *testing.T) {
	m := parse(t, edited(t, "      build: {go: ../cmd/app}\n", "", levels, levels+
		`  image: [{name: old, set: {services: {app: {image: "app:1"}}}}, {name: new, set: {services: {app: {image: "app:2"}}}}]`+"\n"))
	if a, b := plan(t, m, "baseline").Services[1].Image, plan(t, m, "image=new").Services[1].Image; a != "app:1" || b != "app:2" {
		t.Errorf("images %s and %s", a, b)
	}
}

// TestOverlayOfStage: a stage whose baseline is a level with set has its own variant.
func TestOverlayOfStage(t *testing.T) {
	m := parse(t, edited(t, levels, levels+`  app: [plain, {name: other, set: {services: {app: {limits: {cpus: 2}}}}}]`+"\n",
		atTop, "stages: [{name: first}, {name: second, baseline: {app: other}}]\n"))
	got := map[string]float64{}
	for _, c := range m.Cells() {
		p, err := m.Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		got[c.Stage+" "+c.Label()] = p.Services[1].Limits.CPUs
	}
	want := map[string]float64{
		"first baseline": 1, "first control": 1, "first threads=8": 1, "first latency=2ms": 1, "first app=other": 2,
		"second baseline": 2, "second control": 2, "second threads=8": 2, "second latency=2ms": 2, "second app=plain": 1,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("processors (-got +want):\n%s", diff)
	}
}

// TestValidateAsProcesses finds what only the process runner cannot do.
func TestValidateAsProcesses(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace []string
		want    string
	}{
		{
			"replicas",
			[]string{inApp, inApp + "      replicas: 2\n"},
			"m.yaml:19:17: subject.services.app.replicas: 2 replicas, and a process listens on a port alone (runner: docker starts them)",
		},
		{
			"context",
			[]string{"{go: ../cmd/app}", "{context: ../app}"},
			"m.yaml:16:14: subject.services.app.build.context: makes an image, which the process runner cannot start (add process: {build: {go: DIR}} or process: {command: [...]})",
		},
		{
			"literal path",
			[]string{inApp, inApp + "      files: {/etc/app.conf: x}\n      command: [--config=/etc/app.conf, /etc/app.config]\n"},
			"m.yaml:20:17: subject.services.app.command[0]: /etc/app.conf is not there for a process (write ${file:/etc/app.conf})",
		},
		{
			"literal path below a volume",
			[]string{inApp, inApp + "      volumes: [\"data:/data\"]\n", `THREADS: "${threads}"`, `THREADS: "${threads}:/data/x"`},
			"m.yaml:23:18: subject.services.app.env.THREADS: /data is not there for a process (write ${file:/data})",
		},
		{
			"step by an image",
			[]string{confirms, "        - {image: \"curl:8\", run: [curl], has: ok}\n"},
			"m.yaml:26:11: subject.services.app.confirm[0].image: the process runner starts no image (runner: docker does)",
		},
		{
			"top step by an image",
			[]string{atTop, "prepare: [{image: \"seed:1\", run: [seed]}]\n"},
			"m.yaml:38:11: prepare[0].image: the process runner starts no image (runner: docker does)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, edited(t, c.replace...))
			if err := m.ForRunner(experiment.RunnerDocker).ValidateRunner(); err != nil {
				t.Errorf("in containers: %v", err)
			}
			err := m.ForRunner(experiment.RunnerProcess).ValidateRunner()
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	_, err := matrixfile.Parse("m.yaml", "/", []byte(edited(t, inApp, inApp+"      files: {/etc/app.conf: x}\n      command: [\"--config=${file:/etc/app.conf}\"]\n")))
	if err != nil {
		t.Errorf("a path that is asked for: %v", err)
	}
}

// TestOverlaysAreWarnedOf: what a level puts into a service may not arrive; what it puts
// into the load is counted, and makes another load.
func TestOverlaysAreWarnedOf(t *testing.T) {
	const confirm = `confirm: [{http: ":8080/config", json: {kind: .kind}, is: {kind: "${kind}"}}]`
	for name, c := range map[string]struct {
		set  string
		want []string
	}{
		"service":             {`{services: {app: {env: {KIND: b}}}}`, []string{experiment.CodeUnconfirmed}},
		"service that is new": {`{services: {cache: {image: "cache:1"}}}`, []string{experiment.CodeUnconfirmed}},
		"load":                {`{load: {closed: {users: 32}}}`, []string{experiment.CodeVariedLoad}},
		"confirmed":           {`{services: {app: {env: {KIND: b}, ` + confirm + `}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, edited(t, levels, levels+"  kind: [a, {name: b, set: "+c.set+"}]\n"))
			var got []string
			for _, w := range m.Warnings() {
				if w.Path == "factors.kind" {
					got = append(got, w.Code)
				}
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("warnings (-got +want):\n%s", diff)
			}
		})
	}
}
