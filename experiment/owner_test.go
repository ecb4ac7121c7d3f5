package experiment

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
		{"another boot of this machine", func(o *Owner) { o.Boot = "x" }, OwnerDead},
		{"another boot and namespace of this machine", func(o *Owner) { o.Boot, o.Namespace = "x", "x" }, OwnerDead},
		{"another machine", func(o *Owner) { o.Machine, o.Boot = "x", "x" }, OwnerUnknown},
		{"a container of this kernel, with an installation of its own", func(o *Owner) { o.Machine, o.Namespace = "x", "x" }, OwnerUnknown},
		{"an installation that got its id meanwhile", func(o *Owner) { o.Machine = "x" }, OwnerAlive},
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
	me, err := here()
	if err != nil {
		t.Skipf("no Linux: %v", err)
	}
	for _, text := range []string{
		"", "b/n/1/s/d", "m/b/n/p/s/d", "m/b/n/0/s/d", "m/b/n/-1/s/d", "m/b/n/1/s/d/f",
		me.Machine + "/b/n/1/s", me.Machine + "//n/1/s/d", me.Machine + "/b//1/s/d", me.Machine + "/b/n/1//d", "/b/n/1/s/d",
	} {
		if got := FateOf(text); got != OwnerUnknown {
			t.Errorf("FateOf(%q) = %s: only what is provably dead may be removed", text, got)
		}
	}
}

func TestOfThisBoot(t *testing.T) {
	me, err := ThisOwner("")
	if err != nil {
		t.Skipf("no Linux: %v", err)
	}
	before := me
	before.Boot = "x"
	for owner, want := range map[string]bool{me.String(): true, before.String(): false, "": false, "x/" + me.String(): false} {
		if got := OfThisBoot(owner); got != want {
			t.Errorf("OfThisBoot(%q) = %v", owner, got)
		}
	}
}

func TestMachineID(t *testing.T) {
	give := func(text string) string {
		path := filepath.Join(t.TempDir(), "machine-id")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := machineID(path)
		if err != nil || len(id) != 16 {
			t.Fatalf("%q gave %q, %v", text, id, err)
		}
		return id
	}
	missing, err := machineID(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	const one, two = "0123456789abcdef0123456789abcdef\n", "f123456789abcdef0123456789abcdef\n"
	switch {
	case give(one) != give(strings.TrimSpace(one)), give(one) == give(two), give(one) == missing:
		t.Error("the id of an installation does not decide")
	case give("") != missing, give("uninitialized\n") != missing:
		t.Error("without an id, the name does not decide")
	case strings.Contains(give(one), one[:16]):
		t.Error("the id of the installation is shown")
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
