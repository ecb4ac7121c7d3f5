package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
)

// fakeProgram is ceteris over a scripted subject: "--db FILE run --runner fake --rounds
// N MATRIX" and nothing else. It keeps the books as the whole program does, which has
// no such runner.
const fakeProgram = "ceteris-fake"

func fakeMain() { os.Exit(runFake(os.Args[1:])) }

func runFake(args []string) int {
	screen := &screen{w: os.Stderr}
	ctx, interrupts, stop := catch(context.Background(), screen)
	defer stop()
	interrupts.gently()
	a := &app{out: io.Discard, err: screen, interrupts: interrupts, now: time.Now, log: slog.New(slog.DiscardHandler)}
	a.config.DB = args[1]
	rounds, err := strconv.Atoi(args[6])
	if err == nil {
		err = conductFake(ctx, a, args[7], rounds)
	}
	if err != nil {
		printError(a.err, err)
		return exitCode(ctx, err)
	}
	return exitOK
}

// conductFake executes what is missing of a matrix. What a run reports tells which run
// it was (see fakeThroughput).
func conductFake(ctx context.Context, a *app, file string, rounds int) error {
	m, err := matrixfile.Load(file)
	if err != nil {
		return err
	}
	store, closeStore, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	owner, err := experiment.ThisOwner(store.ID())
	if err != nil {
		return err
	}
	c := &conduct.Conductor{
		Runner: fake.New(fake.Script{
			Host: &experiment.Host{Cores: experiment.CoreSet{0, 1, 2, 3}, Enforces: experiment.Enforces{Cores: true}},
			Service: func(r fake.Run, s experiment.Service) fake.Behaviour {
				if s.Role == experiment.RoleLoad {
					return fake.Behaviour{}
				}
				return fake.Behaviour{ReadyAfter: time.Millisecond, Stdout: fmt.Sprintf("%s of run %d\n", s.Name, r.Key.Run)}
			},
			Load: func(r fake.Run, _ experiment.Load) fake.Generation { return fake.Throughput(fakeThroughput(r.Key.Run)) },
		}),
		Reader: load.Reader{}, Judge: guard.New(), Analyst: analysis.New(), Store: store,
		Journal: store.Path() + "-slices", Generator: experiment.Build{Binary: "/loadgen"}, Log: a.log, Now: a.now, Events: newProgress(a.err, m.Judge.Metric).on,
	}
	result, err := c.Conduct(ctx, conduct.Request{
		Matrix: m.ForRunner(experiment.RunnerFake), Rounds: rounds, Drain: a.interrupts.stopping.Done(),
		Invocation: a.invocation(owner.String(), false),
	})
	if err == nil {
		err = stopped(result)
	}
	return err
}

// fakeThroughput is what a run reports: no two report the same.
func fakeThroughput(run int64) float64 { return 10 * float64(100+run) } // whole requests in 100 ms
