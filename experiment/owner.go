package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Owner identifies a ceteris process that started something. All parts are
// needed: a process id alone is reused, and two containers have two process 7.
type Owner struct {
	Machine   string // identifies the host, also after it was started again
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
	OwnerUnknown OwnerFate = "unknown" // another host, or another process namespace of this one
)

// ThisOwner describes the calling process.
func ThisOwner(database string) (Owner, error) {
	o, err := here()
	if err != nil {
		return Owner{}, fmt.Errorf("identify this process: %w", err)
	}
	o.PID, o.Database = os.Getpid(), database
	if o.Started, err = ProcessStart(o.PID); err != nil {
		return Owner{}, fmt.Errorf("identify this process: %w", err)
	}
	return o, nil
}

// here gives what all processes of a namespace have in common.
func here() (o Owner, err error) {
	if o.Machine, err = machineID("/etc/machine-id"); err != nil {
		return Owner{}, err
	}
	if o.Boot, err = BootID(); err != nil {
		return Owner{}, err
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Owner{}, err
	}
	o.Namespace = strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]")
	return o, nil
}

// machineID hashes the id of this installation, which is not to be shown to others
// (see machine-id(5)); where there is none, the host's name.
func machineID(path string) (string, error) {
	b, err := os.ReadFile(path)
	id := strings.TrimSpace(string(b))
	if err != nil || id == "" || id == "uninitialized" {
		if id, err = os.Hostname(); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte("ceteris " + id))
	return hex.EncodeToString(sum[:8]), nil
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
	return strings.Join([]string{o.Machine, o.Boot, o.Namespace, strconv.Itoa(o.PID), o.Started, o.Database}, "/")
}

// ParseOwner reads String's form. Only the database may have no id.
func ParseOwner(s string) (Owner, error) {
	f := strings.Split(s, "/")
	if len(f) != 6 || slices.Contains(f[:5], "") {
		return Owner{}, fmt.Errorf("%q names no owner", s)
	}
	pid, err := strconv.Atoi(f[3])
	if err != nil || pid <= 0 {
		return Owner{}, fmt.Errorf("%q names no owner", s)
	}
	return Owner{Machine: f[0], Boot: f[1], Namespace: f[2], PID: pid, Started: f[4], Database: f[5]}, nil
}

// Fate says whether the owner is alive, provably dead, or out of sight.
func (o Owner) Fate() OwnerFate {
	me, err := here()
	switch {
	case err != nil:
		return OwnerUnknown
	case o.Boot != me.Boot && o.Machine == me.Machine: // no process outlives its boot
		return OwnerDead
	case o.Boot != me.Boot, o.Namespace != me.Namespace:
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

// OfThisBoot says whether processes of the owner may still run on this kernel. The
// ids and start times of others mean nothing here.
func OfThisBoot(owner string) bool {
	o, err := ParseOwner(owner)
	if err != nil {
		return false
	}
	boot, err := BootID()
	return err == nil && o.Boot == boot
}

// FateOf parses and asks; an unreadable owner is unknown.
func FateOf(owner string) OwnerFate {
	o, err := ParseOwner(owner)
	if err != nil {
		return OwnerUnknown
	}
	return o.Fate()
}
