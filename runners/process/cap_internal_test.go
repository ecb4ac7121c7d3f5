package process

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// written is a service of which only the output is there.
func written(t *testing.T, role experiment.ServiceRole, parts ...[]byte) *proc {
	t.Helper()
	s := experiment.Service{Name: "app", Role: role}
	p := &proc{service: s, files: newOutputs(t.TempDir(), s)}
	for i, path := range p.files.paths {
		if err := os.WriteFile(path, parts[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// lines gives n bytes in lines of 16.
func lines(n int) []byte { return bytes.Repeat([]byte("0123456789abcde\n"), n/16) }

// A file that is too long gives back its middle, keeps both ends and its length, and
// lines are counted where all of them are still there.
func TestCut(t *testing.T) {
	const mib = 1 << 20
	all := lines(16 * mib)
	p := written(t, experiment.RoleSubject, all)
	path := p.files.paths[0]
	p.files.marks = []outputMark{{time.Unix(0, 0), []int64{0}}, {time.Unix(1, 0), []int64{4 * mib}}, {time.Unix(2, 0), []int64{12 * mib}}, {time.Unix(3, 0), []int64{16 * mib}}}
	volume := func(from, to int64) experiment.LogVolume {
		t.Helper()
		v, err := p.LogVolume(t.Context(), time.Unix(from, 0), time.Unix(to, 0))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, most := range []int64{16 * mib, 12 * mib} {
		if err := p.files.cut(0, most, 4*mib); err != nil {
			t.Fatal(err)
		}
		cut := most < 16*mib
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			t.Fatal(err)
		}
		if onDisk := st.Blocks * 512; st.Size != 16*mib || cut != (onDisk <= 6*mib) {
			t.Errorf("most %d: %d bytes long, %d on disk", most, st.Size, onDisk)
		}
		want := experiment.LogVolume{Bytes: 8 * mib, Lines: 8 * mib / 16}
		if cut {
			want.Lines = -1
		}
		if got := volume(1, 2); got != want {
			t.Errorf("most %d: in the middle %+v, want %+v", most, got, want)
		}
		if got, want := volume(2, 3), (experiment.LogVolume{Bytes: 4 * mib, Lines: 4 * mib / 16}); got != want {
			t.Errorf("most %d: at the end %+v, want %+v", most, got, want)
		}
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now[:mib], all[:mib]) || !bytes.Equal(now[12*mib:], all[12*mib:]) {
		t.Error("an end has changed")
	}
}

func TestCutOfWhatIsGone(t *testing.T) {
	o := newOutputs(filepath.Join(t.TempDir(), "gone"), experiment.Service{Name: "app"})
	if err := o.cut(0, 1, 1); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

func TestLogEnds(t *testing.T) {
	for _, tc := range []struct {
		name       string
		role       experiment.ServiceRole
		parts      []string
		head, tail string
		cut        bool
	}{
		{"nothing", experiment.RoleSubject, []string{""}, "", "", false},
		{"less than one end", experiment.RoleSubject, []string{"abc"}, "abc", "", false},
		{"both ends", experiment.RoleSubject, []string{"abcdefgh"}, "abcd", "efgh", false},
		{"ends that overlap", experiment.RoleSubject, []string{"abcdef"}, "abcd", "ef", false},
		{"more", experiment.RoleSubject, []string{"abcd-efgh"}, "abcd", "efgh", true},
		{"two files", experiment.RoleLoad, []string{"abc", "d--efgh"}, "abcd", "efgh", true},
		{"two files, the second short", experiment.RoleLoad, []string{"abcd--e", "fgh"}, "abcd", "efgh", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var parts [][]byte
			full := 0
			for _, s := range tc.parts {
				parts = append(parts, []byte(s))
				full += len(s)
			}
			e, err := written(t, tc.role, parts...).LogEnds(t.Context(), 4)
			if err != nil {
				t.Fatal(err)
			}
			if string(e.Head) != tc.head || string(e.Tail) != tc.tail || e.Cut != tc.cut || e.Full != int64(full) {
				t.Errorf("got %q and %q of %d, cut: %v", e.Head, e.Tail, e.Full, e.Cut)
			}
		})
	}
}
