package db

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// networkMagics are the filesystems of statfs(2) and linux/magic.h whose locks
// or shared memory do not hold between hosts.
func networkMagics() map[uint32]string {
	return map[uint32]string{
		0x6969:     "NFS",
		0x517b:     "SMB",
		0xfe534d42: "SMB2",
		0xff534d42: "CIFS",
		0x564c:     "NCP",
		0x5346414f: "AFS",
		0x6b414653: "AFS",
		0x73757245: "Coda",
		0x00c36400: "Ceph",
		0x0bd00bd0: "Lustre",
		0x47504653: "GPFS",
		0x01161970: "GFS2",
		0x7461636f: "OCFS2",
	}
}

const fuseMagic = 0x65735546

// networkFuse are the kinds of FUSE behind which there is a network; the others
// (ntfs-3g, mergerfs, a desktop's shared folders) are local.
func networkFuse() []string {
	return []string{"sshfs", "s3fs", "rclone", "gcsfuse", "glusterfs", "ceph", "davfs", "curlftpfs", "smbnetfs", "juicefs", "goofys", "mount-s3", "blobfuse"}
}

// networkFilesystem names the network filesystem under a directory, or gives ""
// for a local one and where it cannot be told.
func networkFilesystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	magic := uint32(st.Type)
	if magic != fuseMagic {
		return networkMagics()[magic]
	}
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	kind := fuseKind(bufio.NewScanner(f), deviceNumber(s.Dev))
	for _, k := range networkFuse() {
		if strings.HasPrefix(kind, k) {
			return kind
		}
	}
	return ""
}

// deviceNumber gives MAJOR:MINOR as /proc/self/mountinfo has it.
func deviceNumber(dev uint64) string {
	major := (dev>>8)&0xfff | (dev>>32)&^0xfff
	minor := dev&0xff | (dev>>12)&^0xff
	return fmt.Sprintf("%d:%d", major, uint32(minor))
}

// fuseKind finds what follows "fuse." in the type of the mount of a device; see
// proc_pid_mountinfo(5).
func fuseKind(lines *bufio.Scanner, device string) string {
	for lines.Scan() {
		mount, fstype, ok := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(mount)
		if !ok || len(fields) < 3 || fields[2] != device {
			continue
		}
		fstype, _, _ = strings.Cut(fstype, " ")
		return strings.TrimPrefix(fstype, "fuse.")
	}
	return ""
}
