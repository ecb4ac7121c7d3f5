package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

func newDoctorCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say whether this host is fit to measure, and with which runners",
		Example: "  ceteris doctor",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), report.Format(format)) },
	}
	formatFlag(cmd, &format, report.Formats()...)
	return cmd
}

// check is one line of the doctor.
type check struct {
	name, state, detail string
}

// The states of a check. One bad check makes the host unfit.
const (
	checkOK   = "ok"
	checkNote = "note"
	checkBad  = "bad"
)

// doctor looks at everything that a run needs and prints what it found.
func (a *app) doctor(ctx context.Context, format report.Format) error {
	checks := []check{a.checkCores(ctx), checkGo(), checkTools(), a.checkDocker(ctx), a.checkDisk()}
	bad := 0
	rows := func(yield func([]any, error) bool) {
		for _, c := range checks {
			if !yield([]any{c.name, c.state, c.detail}, nil) {
				return
			}
		}
	}
	for _, c := range checks {
		if c.state == checkBad {
			bad++
		}
	}
	if err := report.Rows(a.out, []string{"check", "state", "detail"}, rows, format); err != nil {
		return err
	}
	if bad > 0 {
		return &endError{exitCannotMeasure, fmt.Errorf("%d checks are bad: this host cannot measure as it is", bad)}
	}
	return nil
}

func (a *app) checkCores(ctx context.Context) check {
	r, err := a.newRunner(experiment.RunnerProcess, "")
	if err != nil {
		return check{"cores", checkBad, err.Error()}
	}
	host, err := r.Check(ctx)
	if err != nil {
		return check{"cores", checkBad, err.Error()}
	}
	auto := experiment.RunnerAuto
	p, err := experiment.Place(experiment.PlaceSpec{Subject: auto, Backing: auto, Load: auto, Conductor: auto}, host.Cores, false)
	if err != nil {
		return check{"cores", checkBad, err.Error()}
	}
	return check{"cores", checkOK, p.Reason}
}

func checkGo() check {
	path, err := exec.LookPath("go")
	if err != nil {
		return check{"go", checkNote, "not found: services with build.go cannot be built"}
	}
	return check{"go", checkOK, path}
}

func checkTools() check {
	wd, err := os.Getwd()
	if err != nil {
		return check{"own programs", checkBad, err.Error()}
	}
	for _, name := range []string{"loadgen", "linkproxy"} {
		if _, err := gobuild.Tool(name, wd); err != nil {
			return check{"own programs", checkNote, err.Error()}
		}
	}
	return check{"own programs", checkOK, "loadgen and linkproxy are at hand"}
}

func (a *app) checkDocker(ctx context.Context) check {
	r, err := a.newRunner(experiment.RunnerDocker, "")
	if err != nil {
		return check{"container engine", checkNote, err.Error()}
	}
	host, err := r.Check(ctx)
	switch {
	case errors.Is(err, experiment.ErrNoRuntime):
		return check{"container engine", checkNote, "none answers: only runner process can be used"}
	case err != nil:
		return check{"container engine", checkNote, err.Error()}
	case !host.Local:
		return check{"container engine", checkNote, host.Engine + ", elsewhere: host probes are skipped"}
	default:
		return check{"container engine", checkOK, host.Engine}
	}
}

// lowDisk is what a night of sweeps may need, in bytes.
const lowDisk = 1 << 30

func (a *app) checkDisk() check {
	free, err := freeBytes(filepath.Dir(a.config.DB))
	if err != nil {
		return check{"disk", checkBad, err.Error()}
	}
	detail := report.Quantity(float64(free), experiment.UnitBytes) + " free beside the database"
	if free < lowDisk {
		return check{"disk", checkNote, detail + ": little"}
	}
	return check{"disk", checkOK, detail}
}
