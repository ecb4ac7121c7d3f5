// Package fake is a runner without processes: services do what a script says.
//
// It is for tests of whatever drives a runner. It passes the conformance suite for
// what it claims, uses nothing but channels and timers, and works inside a
// testing/synctest bubble, where a sweep of hours takes no time. The generator
// speaks the real protocol, so everything that reads it is tested too.
//
// Steps that run a command are answered by Behaviour.Exec, those that read a file by
// Behaviour.Files. Those over HTTP, and scrapes, are answered by Behaviour.Pages from a
// real server on loopback: whoever uses it gives up the bubble, in which no time would
// pass while a server waits.
//
// What is not done: services without pages answer no requests. A volume holds one text
// instead of files.
package fake

import (
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Script says what happens. The zero value: everything goes well, and every
// generator reports 1000 successes a second.
type Script struct {
	// Host is what Check answers; nil: a host with four cores.
	Host *experiment.Host
	// CheckFault and PrepareFault fail Check and Prepare.
	CheckFault, PrepareFault error
	// Open fails the opening of an environment.
	Open func(Run) error
	// Service says how a service behaves; also asked for the link proxy and the
	// generator.
	Service func(Run, experiment.Service) Behaviour
	// Load says what the generator of a run reports. Nil: Throughput(1000).
	Load func(Run, experiment.Load) Generation
	// Outages are when the engine is gone.
	Outages []Outage
	// Instant lets generators report their phases at once, with the times at which
	// they would have begun, instead of waiting for them.
	Instant bool
}

// Run is an environment as a script sees it.
type Run struct {
	Key      experiment.RunKey
	N        int                  // which opening this is, from 1
	Services []experiment.Service // launched so far, in order, own ports and files resolved
	Restored map[string]string    // contents of the volumes that were restored, by name
}

// Env gives a variable of a launched service, which is how a script knows the
// cell of a run.
func (r Run) Env(service, name string) string {
	for _, s := range r.Services {
		if s.Name != service {
			continue
		}
		for _, e := range s.Env {
			if e.Name == name {
				text, _ := e.Value.Literal()
				return text
			}
		}
	}
	return ""
}

// Behaviour is what a service does. The zero value: ready at once, alive until it
// is stopped, silent.
type Behaviour struct {
	Fault      error         // Launch fails with it: the infrastructure's failure
	ReadyAfter time.Duration // beyond the within of its ready step it is never ready
	Exit       *Exit         // ends by itself
	Stubborn   bool          // ignores SIGTERM
	Stdout     string        // written at once, before Stderr
	Stderr     string
	CPU        float64                              // processors that it uses all the time
	Counters   map[experiment.Counter]float64       // further counters, as they stand
	Exec       func([]string) experiment.ExecResult // nil: every command succeeds, silently
	Files      map[string]string                    // beside those that are declared
	Pages      map[string]string                    // bodies that it answers with over HTTP, by path; not in a bubble of synctest
	Volumes    map[string]string                    // contents of its volumes when they are saved, by name; others are as restored, or empty
}

// Exit is an end after some time, from the launch on. An end that is due when the
// service would be ready comes first. A job without one ends at once, with 0.
type Exit struct {
	After     time.Duration
	Code      int
	OOMKilled bool
}

// environ looks up a variable in the form "NAME=value".
func environ(env []string, name string) (string, bool) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}
