package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/process"
)

// trialDirs holds a directory for each trial under way, named after its owner: what a
// trial that was killed has left is told from what another one needs.
type trialDirs struct{ dir string }

var _ experiment.Cleaner = trialDirs{}

func newTrialDirs() trialDirs { return trialDirs{filepath.Join(process.DefaultStateDir(), "trials")} }

// make makes the directory of this process, and removes those of dead ones.
func (t trialDirs) make(ctx context.Context, log *slog.Logger) (dir string, err error) {
	left, err := t.Leftovers(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range left {
		if l.Fate != experiment.OwnerDead {
			continue
		}
		if err := t.Remove(ctx, l); err != nil {
			log.Warn("leftover stays", "kind", l.Kind, "name", l.Name, "err", err)
		}
	}
	owner, err := experiment.ThisOwner("")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(t.dir, url.PathEscape(owner.String()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("directory of the trial: %w", err)
	}
	return dir, nil
}

// Leftovers implements experiment.Cleaner.
func (t trialDirs) Leftovers(context.Context) ([]experiment.Leftover, error) {
	entries, err := os.ReadDir(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for trials: %w", err)
	}
	var out []experiment.Leftover
	for _, e := range entries {
		owner, err := url.PathUnescape(e.Name())
		if err != nil {
			continue // not ours
		}
		out = append(out, experiment.Leftover{
			Kind: "directory", ID: filepath.Join(t.dir, e.Name()), Name: "databases of a trial", Owner: owner, Fate: experiment.FateOf(owner),
		})
	}
	return out, nil
}

// Remove implements experiment.Cleaner.
func (t trialDirs) Remove(_ context.Context, l experiment.Leftover) error {
	if fate := experiment.FateOf(l.Owner); fate != experiment.OwnerDead {
		return fmt.Errorf("remove %s %s: its owner is %s", l.Kind, l.ID, fate)
	}
	if l.ID != filepath.Join(t.dir, url.PathEscape(l.Owner)) {
		return fmt.Errorf("remove %s %s: it is not its owner's", l.Kind, l.ID)
	}
	return os.RemoveAll(l.ID)
}
