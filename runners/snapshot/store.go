package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DefaultLimit is how many bytes a store holds: 20 GiB.
const DefaultLimit = 20 << 30

// ErrTooLarge is wrapped by the error of a snapshot that is larger than the store.
var ErrTooLarge = errors.New("larger than the store of snapshots")

const (
	suffix   = ".tar"
	partMark = ".part-" // in the names of snapshots in the making
	lockName = "lock"   // held while files come and go
	dirMode  = 0o700    // snapshots hold what databases hold
)

// Options of a Store; the zero value works.
type Options struct {
	Dir   string // default: DefaultDir
	Limit int64  // bytes of all snapshots together; 0: DefaultLimit
	Log   *slog.Logger
}

// Store is a directory of snapshots. It is safe for concurrent use, by several
// processes too.
type Store struct {
	dir   string
	limit int64
	log   *slog.Logger
}

// DefaultDir is ceteris/snapshots in the user's cache directory.
func DefaultDir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(user, "ceteris", "snapshots"), nil
}

// New makes a Store. It touches no file yet.
func New(o Options) (*Store, error) {
	s := &Store{dir: o.Dir, limit: cmp.Or(o.Limit, DefaultLimit), log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.dir == "" {
		dir, err := DefaultDir()
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	return s, nil
}

// validKey keeps keys from being paths, or the names of other files of the store.
var validKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func (s *Store) path(key string) (string, error) {
	if !validKey.MatchString(key) {
		return "", fmt.Errorf("%q is no key of a snapshot", key)
	}
	return filepath.Join(s.dir, key+suffix), nil
}

// Open reads a snapshot, which counts as its use. One that is not there is an error
// that wraps fs.ErrNotExist. One that is dropped meanwhile can be read to its end.
func (s *Store) Open(key string) (io.ReadCloser, error) {
	path, err := s.path(key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Debug("mark the use of a snapshot", "key", key, "err", err)
	}
	return f, nil
}

// Create begins a snapshot. Nobody sees it before Commit.
func (s *Store) Create(key string) (*Draft, error) {
	path, err := s.path(key)
	if err != nil {
		return nil, err
	}
	var f *os.File
	err = s.locked(func() error {
		// What a ceteris that was killed has half made may be what fills the disk.
		if err := s.prune(""); err != nil {
			s.log.Warn("old snapshots cannot be dropped", "dir", s.dir, "err", err)
		}
		if f, err = os.CreateTemp(s.dir, key+partMark); err != nil {
			return err
		}
		// Held as long as this process lives: nobody else takes the file for one that
		// was left behind.
		if err := flock(f, syscall.LOCK_EX); err != nil {
			return errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("create snapshot: %w", err)
	}
	return &Draft{store: s, file: f, path: path}, nil
}

// locked calls do while no other one changes the set of files.
func (s *Store) locked(do func() error) error {
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks it
	if err := flock(lock, syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", s.dir, err)
	}
	return do()
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// prune drops what others left half made, and what was used least recently until the
// rest is within the limit. The one named keep stays.
func (s *Store) prune(keep string) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var all []fs.FileInfo
	var total int64
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		case strings.Contains(e.Name(), partMark):
			errs = append(errs, s.dropAbandoned(e.Name()))
		case strings.HasSuffix(e.Name(), suffix):
			all = append(all, info)
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		if total <= s.limit {
			break
		}
		if info.Name() == keep {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, info.Name())); err != nil {
			errs = append(errs, err)
			continue
		}
		total -= info.Size()
		s.log.Info("snapshot dropped to make room", "key", strings.TrimSuffix(info.Name(), suffix), "bytes", info.Size(), "used", info.ModTime())
	}
	return errors.Join(errs...)
}

// dropAbandoned removes a draft that no process holds.
func (s *Store) dropAbandoned(name string) error {
	f, err := os.Open(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil // somebody is at it
	}
	return os.Remove(f.Name())
}
