package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// process is a process as /proc shows it. Number and start time together name it
// for good; the number alone is given again.
type process struct {
	pid, parent, group int
	state              string
	start              string // clock ticks since boot
	childTicks         int64  // processor time of the children that were waited for, in clock ticks
}

// dead says whether nothing but the entry is left.
func (p process) dead() bool { return p.state == "Z" || p.state == "X" }

// processes reads the table of processes. What ends meanwhile is left out.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read processes: %w", err)
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

func readProcess(pid int) (process, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	f, err := experiment.StatFields(b)
	if err != nil {
		return process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	p := process{pid: pid, state: f[0], start: f[19]}
	var errs [4]error
	p.parent, errs[0] = strconv.Atoi(f[1])
	p.group, errs[1] = strconv.Atoi(f[2])
	user, err := strconv.ParseInt(f[13], 10, 64)
	errs[2] = err
	system, err := strconv.ParseInt(f[14], 10, 64)
	errs[3] = err
	p.childTicks = user + system
	return p, errors.Join(errs[:]...)
}

// family gives the processes of a group and all their descendants.
func family(all []process, group int) []process {
	children := map[int][]process{}
	var out []process
	for _, p := range all {
		if p.group == group {
			out = append(out, p)
		} else {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].pid]...)
	}
	return out
}

// markerEnv is the variable that names owner, run and service of a process and of
// everything that it starts.
const markerEnv = "CETERIS_RUN"

// marker is the value of markerEnv.
type marker struct {
	owner      string
	sweep, run int64
	service    string
}

func (m marker) String() string {
	return fmt.Sprintf("%s#%d/%d/%s", m.owner, m.sweep, m.run, m.service)
}

func parseMarker(s string) (marker, bool) {
	owner, rest, ok := strings.Cut(s, "#")
	f := strings.SplitN(rest, "/", 3)
	if !ok || len(f) != 3 {
		return marker{}, false
	}
	sweep, err1 := strconv.ParseInt(f[0], 10, 64)
	run, err2 := strconv.ParseInt(f[1], 10, 64)
	return marker{owner: owner, sweep: sweep, run: run, service: f[2]}, err1 == nil && err2 == nil
}

// markerOf reads the marker of a process that lives and that may be looked into.
func markerOf(pid int) (marker, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return marker{}, false
	}
	for v := range bytes.SplitSeq(b, []byte{0}) {
		if text, ok := strings.CutPrefix(string(v), markerEnv+"="); ok {
			return parseMarker(text)
		}
	}
	return marker{}, false
}

// marked gives the living processes whose marker fits.
func marked(fits func(marker) bool) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p process) bool {
		if p.dead() {
			return true
		}
		m, ok := markerOf(p.pid)
		return !ok || !fits(m)
	}), nil
}

// kill sends SIGKILL to a process if it is still the one that was meant. The
// handle is taken before the check, so the number cannot change hands in between.
func kill(p process, meant func(process) bool) error {
	h, err := os.FindProcess(p.pid)
	if err != nil {
		return err
	}
	defer func() { _ = h.Release() }()
	now, err := readProcess(p.pid)
	if err != nil || now.start != p.start || now.dead() || !meant(now) {
		return nil // gone, or somebody else
	}
	if err := h.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", p.pid, err)
	}
	return nil
}

// killAll kills processes that were seen before, as far as they still live.
func killAll(seen []process) error {
	var errs []error
	for _, p := range seen {
		errs = append(errs, kill(p, func(process) bool { return true }))
	}
	return errors.Join(errs...)
}

// killPatience is how long the kernel may take to end what was killed.
const killPatience = 10 * time.Second

// killMarked kills everything whose marker fits, again and again until nothing is
// left, for what is killed may just have started something.
func killMarked(fits func(marker) bool) error {
	for deadline := time.Now().Add(killPatience); ; time.Sleep(2 * time.Millisecond) {
		left, err := marked(fits)
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d survives SIGKILL", left[0].pid)
		}
		for _, p := range left {
			err := kill(p, func(now process) bool {
				m, ok := markerOf(now.pid)
				return ok && fits(m)
			})
			if err != nil {
				return err
			}
		}
	}
}
