package db

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// TestNoPlainSecrets: of a variable of the caller's environment the file holds name
// and hash. The plan of a run, in which its value stands, is not stored.
func TestNoPlainSecrets(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	spec := testSpec()
	spec.Matrix.Secrets = []experiment.Secret{{Name: "TOKEN", Set: true, Hash: "5ea1ed"}}
	head, err := d.BeginSweep(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: experiment.ScheduleRound(spec.Cells, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	const plain = "pl4in-s3cret"
	o := testOutcome(beginRun(t, d, pendingRuns(t, d, head.ID)[0]), 3)
	env := []experiment.EnvVar{{Name: "TOKEN", Value: experiment.Literal(plain)}}
	o.Plan.Services = []experiment.Service{{Name: "app", Env: env}}
	o.Generator = experiment.Service{Name: experiment.GeneratorName, Env: env}
	if err := d.EndRun(ctx, o, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte(plain)) {
		t.Error("the file holds the value of a secret")
	}
	if !bytes.Contains(file, []byte(`"secrets":[{"name":"TOKEN","set":true,"hash":"5ea1ed"}]`)) {
		t.Error("the file does not hold the name and the hash of the secret")
	}
}
