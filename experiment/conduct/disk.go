package conduct

import (
	"fmt"
)

// DiskFree is the room on a file system to which an invocation writes.
type DiskFree struct {
	Path  string // as it is named to people
	Free  int64  // bytes, for this user
	Floor int64  // bytes that one run may need at any time, however little it keeps
}

// diskGuard looks before each run whether there is room for one more: the floor, and
// what a run of this invocation has kept so far, on average.
type diskGuard struct {
	first map[string]int64 // free before the first run, by path
	looks int64            // before this one
}

// tooLittle gives the first file system without room for one more run; nil if there
// is none.
func (g *diskGuard) tooLittle(all []DiskFree) error {
	if g.first == nil {
		g.first = map[string]int64{}
	}
	for _, d := range all {
		before, seen := g.first[d.Path]
		if !seen {
			before = d.Free
			g.first[d.Path] = d.Free
		}
		need := d.Floor + max(before-d.Free, 0)/max(g.looks, 1)
		if d.Free < need {
			return fmt.Errorf("%s has %s left, and a run may need %s", d.Path, size(d.Free), size(need))
		}
	}
	g.looks++
	return nil
}

// roomLeft says where there is no room for one more run. What cannot be asked is no
// reason to end.
func (s *sweep) roomLeft() error {
	if s.Free == nil {
		return nil
	}
	all, err := s.Free(s.host)
	if err != nil {
		s.Log.Warn("free room is not known", "err", err)
		return nil
	}
	return s.disk.tooLittle(all)
}

// stopFull ends the invocation for want of room.
func (s *sweep) stopFull(err error) (Ending, error) {
	s.why = err.Error()
	return EndedDiskFull, nil
}

// size prints bytes in the unit of the language that fits.
func size(bytes int64) string {
	const mib, gib = 1 << 20, 1 << 30
	if bytes >= gib {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}
