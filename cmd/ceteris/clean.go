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
	cleaners := []experiment.Cleaner{newTrialDirs()}
	for _, name := range []string{experiment.RunnerProcess, experiment.RunnerDocker} {
		cleaner, err := a.cleaner(ctx, name)
		if errors.Is(err, experiment.ErrNoRuntime) {
			fmt.Fprintln(a.err, "ceteris: no container engine answers: only processes were looked for")
			continue
		}
		if err != nil {
			return err
		}
		cleaners = append(cleaners, cleaner)
	}
	for _, cleaner := range cleaners {
		n, err := a.removeLeft(ctx, cleaner, dry)
		removed += n
		failed = errors.Join(failed, err)
	}
	fmt.Fprintf(a.err, "ceteris: %d leftovers removed\n", removed)
	return failed
}

// removeLeft removes what dead owners left, unless it is only to say so, and names the
// rest.
func (a *app) removeLeft(ctx context.Context, cleaner experiment.Cleaner, dry bool) (removed int, failed error) {
	left, err := cleaner.Leftovers(ctx)
	if err != nil {
		return 0, err
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
	return removed, failed
}

// cleaner gives the named runner, which answers.
func (a *app) cleaner(ctx context.Context, runner string) (experiment.Cleaner, error) {
	owner, err := experiment.ThisOwner("")
	if err != nil {
		return nil, err
	}
	r, err := a.newRunner(runner, owner.String())
	if err != nil {
		return nil, err
	}
	if _, err := r.Check(ctx); err != nil {
		return nil, err
	}
	cleaner, ok := r.(experiment.Cleaner)
	if !ok {
		return nil, fmt.Errorf("the runner %s leaves nothing to be found", runner)
	}
	return cleaner, nil
}
