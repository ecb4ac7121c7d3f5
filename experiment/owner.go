package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Owner identifies a ceteris process that started something. All parts are
// needed: a process id alone is reused, and two containers have two process 7.
type Owner struct {
	Boot      string // boot id of the kernel
	Namespace string // process namespace
	PID       int
	Started   string // start time in clock ticks since boot
	Database  string // id of the database
}

// OwnerFate is what is known of an owner.
type OwnerFate string

// The fates. Only what belongs to a dead owner is removed.
const (
	OwnerAlive   OwnerFate = "alive"
	OwnerDead    OwnerFate = "dead"
	OwnerUnknown OwnerFate = "unknown" // another host, boot or process namespace
)

// ThisOwner describes the calling process.
func ThisOwner(database string) (Owner, error) {
	boot, ns, err := kernelIdentity()
	if err != nil {
		return Owner{}, fmt.Errorf("identify this process: %w", err)
	}
	start, err := ProcessStart(os.Getpid())
	if err != nil {
		return Owner{}, fmt.Errorf("identify this process: %w", err)
	}
	return Owner{Boot: boot, Namespace: ns, PID: os.Getpid(), Started: start, Database: database}, nil
}

func kernelIdentity() (boot, namespace string, err error) {
	if boot, err = BootID(); err != nil {
		return "", "", err
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", "", err
	}
	return boot, strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]"), nil
}

// BootID gives the id of the kernel's present boot.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// ProcessStart gives the start time of a process in clock ticks since boot. The
// error wraps fs.ErrNotExist when there is none.
func ProcessStart(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields, err := StatFields(b)
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return fields[19], nil
}

// StatFields splits the text of /proc/PID/stat from its third field on, which is
// the state; there are 20 fields or more. See proc_pid_stat(5).
func StatFields(stat []byte) ([]string, error) {
	// The command, in parentheses, may hold anything.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 20 {
		return nil, fmt.Errorf("unreadable stat %.100q", stat)
	}
	return fields, nil
}

// String gives the form kept in labels and state files.
func (o Owner) String() string {
	return strings.Join([]string{o.Boot, o.Namespace, strconv.Itoa(o.PID), o.Started, o.Database}, "/")
}

// ParseOwner reads String's form.
func ParseOwner(s string) (Owner, error) {
	f := strings.Split(s, "/")
	if len(f) != 5 {
		return Owner{}, fmt.Errorf("%q names no owner", s)
	}
	pid, err := strconv.Atoi(f[2])
	if err != nil || pid <= 0 {
		return Owner{}, fmt.Errorf("%q names no owner", s)
	}
	return Owner{Boot: f[0], Namespace: f[1], PID: pid, Started: f[3], Database: f[4]}, nil
}

// Fate says whether the owner is alive, provably dead, or out of sight.
func (o Owner) Fate() OwnerFate {
	boot, ns, err := kernelIdentity()
	if err != nil || o.Boot != boot || o.Namespace != ns {
		return OwnerUnknown
	}
	start, err := ProcessStart(o.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return OwnerDead
	case err != nil:
		return OwnerUnknown
	case start != o.Started:
		return OwnerDead
	default:
		return OwnerAlive
	}
}

// FateOf parses and asks; an unreadable owner is unknown.
func FateOf(owner string) OwnerFate {
	o, err := ParseOwner(owner)
	if err != nil {
		return OwnerUnknown
	}
	return o.Fate()
}
