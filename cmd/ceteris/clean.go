package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/experiment"
)

func newCleanCommand(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what a ceteris that died has left: containers, networks, processes",
		Long: `Remove what a ceteris that died has left.

Only what belongs to a provably dead owner on this host is removed; what belongs
to a living one is left alone, and what cannot be told is named. Every run does
the same at its start.`,
		Example: "  ceteris clean --dry-run",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.clean(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

func (a *app) clean(ctx context.Context, dry bool) error {
	removed, failed := 0, error(nil)
	for _, name := range []string{experiment.RunnerProcess, experiment.RunnerDocker} {
		left, cleaner, err := a.leftovers(ctx, name)
		if errors.Is(err, experiment.ErrNoRuntime) {
			fmt.Fprintln(a.err, "ceteris: no container engine answers: only processes were looked for")
			continue
		}
		if err != nil {
			return err
		}
		for _, l := range left {
			verb, err := "removed", error(nil)
			switch {
			case l.Fate == experiment.OwnerAlive:
				verb = "in use"
			case l.Fate == experiment.OwnerUnknown:
				verb = "left alone (owner not known here)"
			case dry:
				verb = "would be removed"
			default:
				if err = cleaner.Remove(ctx, l); err != nil {
					verb = "not removed"
				} else {
					removed++
				}
			}
			fmt.Fprintf(a.out, "%s: %s %s\n", verb, l.Kind, l.Name)
			failed = errors.Join(failed, err)
		}
	}
	fmt.Fprintf(a.err, "ceteris: %d leftovers removed\n", removed)
	return failed
}

func (a *app) leftovers(ctx context.Context, runner string) ([]experiment.Leftover, experiment.Cleaner, error) {
	owner, err := experiment.ThisOwner("")
	if err != nil {
		return nil, nil, err
	}
	r, err := a.newRunner(runner, owner.String())
	if err != nil {
		return nil, nil, err
	}
	if _, err := r.Check(ctx); err != nil {
		return nil, nil, err
	}
	cleaner, ok := r.(experiment.Cleaner)
	if !ok {
		return nil, nil, nil
	}
	left, err := cleaner.Leftovers(ctx)
	return left, cleaner, err
}
