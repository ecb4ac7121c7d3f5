package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Draft is a snapshot in the making. It belongs to one writer.
type Draft struct {
	store *Store
	file  *os.File
	path  string // where it will be
	size  int64
	fault error // of a write
	done  bool
}

// Write adds to the snapshot. One that becomes larger than the store holds fails with
// ErrTooLarge.
func (d *Draft) Write(b []byte) (int, error) {
	if d.fault != nil {
		return 0, d.fault
	}
	if d.size += int64(len(b)); d.size > d.store.limit {
		d.fault = fmt.Errorf("write snapshot: %w (%d bytes)", ErrTooLarge, d.store.limit)
		return 0, d.fault
	}
	n, err := d.file.Write(b)
	d.fault = err
	return n, err
}

// Commit puts the snapshot in its place, whole and at once, and drops others if the
// store has become too large. One of the same key is replaced. What could not be
// written whole is dropped.
func (d *Draft) Commit() error {
	if d.done {
		return errors.New("commit snapshot: it is closed")
	}
	if d.fault != nil {
		return errors.Join(fmt.Errorf("commit snapshot: %w", d.fault), d.Close())
	}
	if err := d.file.Sync(); err != nil {
		return errors.Join(fmt.Errorf("commit snapshot: %w", err), d.Close())
	}
	err := d.store.locked(func() error {
		if err := os.Rename(d.file.Name(), d.path); err != nil {
			return err
		}
		d.done = true
		if err := d.store.prune(filepath.Base(d.path)); err != nil {
			d.store.log.Warn("old snapshots cannot be dropped", "dir", d.store.dir, "err", err)
		}
		return d.file.Close()
	})
	if err != nil {
		return errors.Join(fmt.Errorf("commit snapshot: %w", err), d.Close())
	}
	return nil
}

// Close drops a snapshot that was not committed. After Commit it does nothing.
func (d *Draft) Close() error {
	if d.done {
		return nil
	}
	d.done = true
	if err := errors.Join(os.Remove(d.file.Name()), d.file.Close()); err != nil {
		return fmt.Errorf("drop snapshot: %w", err)
	}
	return nil
}
