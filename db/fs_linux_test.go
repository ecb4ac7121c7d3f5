package db

import (
	"bufio"
	"strings"
	"testing"
)

func TestFuseKind(t *testing.T) {
	const mounts = `22 27 0:21 / /proc rw,nosuid shared:12 - proc proc rw
90 27 0:48 / /mnt/a\040b rw,relatime shared:1 - fuse.sshfs me@host:/x rw,user_id=0
91 27 0:49 / /mnt/c rw,relatime - fuseblk /dev/sdb1 rw`
	for device, want := range map[string]string{"0:48": "sshfs", "0:49": "fuseblk", "0:21": "proc", "8:1": ""} {
		if got := fuseKind(bufio.NewScanner(strings.NewReader(mounts)), device); got != want {
			t.Errorf("device %s: %q, want %q", device, got, want)
		}
	}
}

func TestLocalDirectoryIsNoNetwork(t *testing.T) {
	if name := networkFilesystem(t.TempDir()); name != "" {
		t.Errorf("the temporary directory lies on %s", name)
	}
	if name := networkFilesystem("/proc"); name != "" {
		t.Errorf("/proc lies on %s", name)
	}
}
