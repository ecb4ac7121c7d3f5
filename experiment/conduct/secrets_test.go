package conduct_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
)

// Secrets reach the services, and nothing that is stored.
func TestSecrets(t *testing.T) {
	const secret = "hunter2-and-more"
	s := newStage(t)
	rec := s.record()
	s.secrets = map[string]string{"TOKEN": secret, "PIN": "123"}
	app := s.service("app")
	for _, e := range []string{"TOKEN", "PIN", "UNSET"} {
		app.Env = append(app.Env, experiment.EnvVar{Name: e, Value: run("${env:" + e + "}")[0]})
	}
	app.Command = run("serve", "--token=${env:TOKEN}", "--unset=${env:UNSET}")
	app.Confirm = append(app.Confirm, experiment.Step{Run: run("whoami", "${env:TOKEN}"), Has: run("${env:TOKEN}")[0]})
	s.matrix.Load.Requests[0].Headers = []experiment.EnvVar{
		{Name: "Authorization", Value: run("Bearer ${env:TOKEN}")[0]},
		{Name: "X-Unset", Value: run("${env:UNSET}")[0]},
	}
	s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv == "whoami "+secret {
			return text("no, not " + secret)
		}
		return experiment.ExecResult{}, false
	})
	healthy := s.script.Service
	var launched experiment.Service
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		b := healthy(r, svc)
		if svc.Name == "app" {
			launched = svc
			b.Stdout = "token is " + secret + ", pin is 123\n"
		}
		return b
	}
	var headers []experiment.EnvVar
	s.script.Load = func(_ fake.Run, l experiment.Load) fake.Generation {
		headers = l.Requests[0].Headers
		return fake.Throughput(1000)
	}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4})
	argv, env, err := launched.Texts()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(argv, []string{"serve", "--token=" + secret}); diff != "" {
		t.Errorf("command (-got +want):\n%s", diff)
	}
	if !slices.Contains(env, "TOKEN="+secret) || !slices.Contains(env, "PIN=123") || slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "UNSET") }) {
		t.Errorf("environment: %v", env)
	}
	if len(headers) != 1 || headers[0].Value.String() != "Bearer "+secret {
		t.Errorf("headers: %v", headers)
	}
	o := rec.outcomes[0]
	for _, a := range o.Artifacts {
		if a.Service == "app" && string(a.Body) != "token is ***, pin is 123\n" {
			t.Errorf("log: %q", a.Body)
		}
	}
	if c := o.Confirmations[1]; c.Want != "***" || c.Got != "***" || !c.OK {
		t.Errorf("confirmation: %+v", c)
	}
	path := s.store.Path()
	if err := s.store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(file)
		if err != nil && file == path {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the secret", file)
		}
	}
}

// A text that cannot be left out wants its variable to be set, before anything starts.
func TestSecretThatIsLacking(t *testing.T) {
	s := newStage(t)
	s.service("app").Files = []experiment.FileSpec{{Path: "/etc/app.conf", Content: run("key ${env:TOKEN}")[0]}}
	_, err := s.conduct(t.Context())
	if want := "service app: files: key ${env:TOKEN}: a variable that is not set cannot be left out here: cannot measure here"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Of a log the beginning and the end are kept, and nothing of a secret through which it
// was cut.
func TestSecretsAtTheCutsOfLogs(t *testing.T) {
	const secret, keep = "hunter2-and-more", 256 << 10
	s := newStage(t)
	rec := s.record()
	s.matrix.Repeat.Rounds = 1
	s.secrets = map[string]string{"TOKEN": secret}
	app := s.service("app")
	app.Env = append(app.Env, experiment.EnvVar{Name: "TOKEN", Value: run("${env:TOKEN}")[0]})
	head, tail := strings.Repeat("a", keep-len("hunter")), strings.Repeat("z", keep-len("-more"))
	s.script.Service = s.behave(fake.Behaviour{Stdout: head + secret + secret + tail})
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4})
	for _, a := range rec.outcomes[0].Artifacts {
		if a.Service == "app" && string(a.Body) != head+"***"+experiment.CutMark+"***"+tail {
			t.Errorf("at the cut: %q", strings.Trim(string(a.Body), "az"))
		}
	}
}
