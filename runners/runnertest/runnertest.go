// Package runnertest is the conformance suite that every runner passes.
//
// A runner says in Capabilities what it can do on this host; the suite checks
// that it does, and that it says no where it does not (Host.Enforces). Cases
// that need a capability are skipped one by one without it, never all of them.
//
// The services of the suite are copies of the program testsubject, which comes
// with it. The suite does not judge speed: every bound in time is generous and
// one-sided.
package runnertest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Capabilities are what a runner claims to do here.
type Capabilities struct {
	Serves           bool // services really run: they answer over HTTP and use resources
	Pins             bool // core sets are in force
	LimitsCPU        bool // processor limits are in force
	LimitsMemory     bool // memory limits are in force, and Exit.OOMKilled tells
	LimitsPIDs       bool // process limits are in force
	Exec             bool // Proc is an Execer
	LogMeter         bool // Proc is a LogMeter
	ThrottleCounters bool // Usage has CounterThrottled
	NetCounters      bool // Usage has CounterNetReceived and CounterNetSent
	PeakMemory       bool // Usage has CounterMemoryPeak
	Cleans           bool // the runner is a Cleaner
	Aliases          bool // replicas are found behind one name
}

// Harness is a runner under test.
type Harness struct {
	// New gives a fresh runner. It may share builds and caches, and nothing else,
	// with those given before.
	New          func(t testing.TB) experiment.Runner
	Capabilities Capabilities
	// Subject gives the test subject in a mode with further environment
	// ("NAME=value"). Nil means runnertest.Subject. Without Serves, mode crash ends
	// and mode job end with CODE after AFTER, both in its environment, and the volume
	// data holds TEXT when it is saved.
	Subject func(mode string, env ...string) experiment.Service
	// Remains names the processes or containers that exist for the owner, ended
	// containers too, found without the runner's help. It is also asked while an
	// environment is open. Nil means that Leftovers alone is asked.
	Remains func(t testing.TB, owner string) []string
}

// SubjectPort is the declared port of the test subject.
const SubjectPort = 8080

// SubjectDir is the directory of the test subject's package main.
func SubjectDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "testsubject")
}

// Subject gives the test subject: a Go package to build that listens at its
// declared port, ready when it answers over HTTP within 20 s. Its modes are
// listed in its package comment.
func Subject(mode string, env ...string) experiment.Service {
	s := experiment.Service{
		Name:  "app",
		Build: &experiment.Build{Go: SubjectDir()},
		Env: []experiment.EnvVar{
			{Name: "MODE", Value: experiment.Literal(mode)},
			{Name: "LISTEN", Value: reference(fmt.Sprintf("${self:%d}", SubjectPort))},
		},
		Ports: []int{SubjectPort},
		Ready: &experiment.Step{HTTP: experiment.Literal(fmt.Sprintf(":%d/healthz", SubjectPort)), Within: 20 * time.Second},
		Role:  experiment.RoleSubject,
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		s.Env = append(s.Env, experiment.EnvVar{Name: name, Value: experiment.Literal(value)})
	}
	return s
}

func reference(text string) experiment.Template {
	t, err := experiment.ParseTemplate(text, experiment.Pos{})
	if err != nil {
		panic("runnertest: " + err.Error()) // a constant of this package
	}
	return t
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Subject == nil {
		h.Subject = Subject
	}
	s := &suite{Harness: h, runner: h.New(t)}
	host, err := s.runner.Check(t.Context())
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	s.host = host
	images, err := s.runner.Prepare(within(t, 5*time.Minute), []experiment.Service{h.Subject("serve")})
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	s.images = images
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if c.needs != nil && !c.needs(h.Capabilities) {
				t.Skip("not claimed by this runner")
			}
			c.run(t, s)
		})
	}
}

type suite struct {
	Harness
	runner experiment.Runner
	host   experiment.Host
	images experiment.Images
}

// testCase is one case of the suite, and what it needs of a runner.
type testCase struct {
	name  string
	needs func(Capabilities) bool
	run   func(*testing.T, *suite)
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
