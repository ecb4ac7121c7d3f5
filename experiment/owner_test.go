package experiment

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestOwnerFate(t *testing.T) {
	me, err := ThisOwner("db1")
	if err != nil {
		t.Skipf("no Linux: %v", err)
	}
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	started, err := ProcessStart(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	of := me
	of.PID, of.Started = child.Process.Pid, started
	if got := of.Fate(); got != OwnerAlive {
		t.Errorf("a living child is %s", got)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	for _, c := range []struct {
		name string
		edit func(*Owner)
		want OwnerFate
	}{
		{"this process", func(*Owner) {}, OwnerAlive},
		{"another database", func(o *Owner) { o.Database = "db2" }, OwnerAlive},
		{"a process that ended", func(o *Owner) { *o = of }, OwnerDead},
		{"a process id used again", func(o *Owner) { o.Started += "1" }, OwnerDead},
		{"another boot", func(o *Owner) { o.Boot = "x" }, OwnerUnknown},
		{"another namespace", func(o *Owner) { o.Namespace = "x" }, OwnerUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := me
			c.edit(&o)
			if got := FateOf(o.String()); got != c.want {
				t.Errorf("%s is %s, want %s", o, got, c.want)
			}
			if back, err := ParseOwner(o.String()); err != nil || back != o {
				t.Errorf("%s is read as %+v, %v", o, back, err)
			}
		})
	}
}

func TestOwnerUnreadable(t *testing.T) {
	for _, text := range []string{"", "a/b/c/d", "a/b/c/d/e", "a/b/0/d/e", "a/b/-1/d/e", "a/b/1/d/e/f"} {
		if got := FateOf(text); got != OwnerUnknown {
			t.Errorf("FateOf(%q) = %s: only what is provably dead may be removed", text, got)
		}
	}
}

// TestProcessStart names a command with spaces and parentheses, which stand in the
// line that is parsed.
func TestProcessStart(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir() + "/a) b (c"
	body, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, body, 0o700); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(odd, "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	got, err := ProcessStart(child.Process.Pid)
	if err != nil || strings.Trim(got, "0123456789") != "" || got == "" {
		t.Errorf("started at %q, %v", got, err)
	}
	if _, err := ProcessStart(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no process gave %v", err)
	}
}

func TestStatFields(t *testing.T) {
	const rest = " S 1 17 17 0 -1 4194560 9 8 7 6 250 50 3 4 20 0 30 0 1234 99 9"
	for name, text := range map[string]string{"plain": "17 (dockerd)" + rest, "a hostile name": "17 (a) R 9 (b) c)" + rest} {
		got, err := StatFields([]byte(text))
		if err != nil || len(got) != 22 || got[0] != "S" || got[19] != "1234" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{"nothing": "", "no name": "17" + rest, "cut short": "17 (a) S 1 17"} {
		if got, err := StatFields([]byte(text)); err == nil {
			t.Errorf("%s: %q, no error", name, got)
		}
	}
}
