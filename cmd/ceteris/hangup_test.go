package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTerminalGoesAway: a sweep with a bar on a terminal outlives the terminal: its
// hang-up, and that nothing can be written any more. The log beside the database has
// the rest.
func TestTerminalGoesAway(t *testing.T) {
	ours, theirs := openTerminal(t)
	dir := t.TempDir()
	database := filepath.Join(dir, "t.db")
	cmd := exec.CommandContext(t.Context(), "ceteris", "--db", database, "run", "--rounds", "2", filepath.Join("testdata", "tiny.yaml"))
	cmd.Env = append(os.Environ(), "TERM=xterm", "XDG_STATE_HOME="+dir, "CETERIS_LIBEXEC=", locksVar+"="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that it is hung up
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	var shown bytes.Buffer
	for chunk := make([]byte, 4096); !bytes.Contains(shown.Bytes(), []byte("1/6 runs")); {
		n, err := ours.Read(chunk)
		if err != nil {
			t.Fatalf("%v after %q", err, shown.String())
		}
		shown.Write(chunk[:n])
	}
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(scriptPatience, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFault { // the table could not be printed
		t.Errorf("exit code %d, want %d", code, exitFault)
	}
	log, err := os.ReadFile(database + ".log")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"progress=6/6", `msg="matrix done" matrix=tiny exit=1 err="print the table: `, `line="tiny (sweep 1): 2 of 2 rounds; print the table: `} {
		if !bytes.Contains(log, []byte(want)) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

// openTerminal makes a terminal of 120 columns: our end of it, and its own; see
// pty(7).
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120})
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}
