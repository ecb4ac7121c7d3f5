package docker

import (
	"errors"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestRefused(t *testing.T) {
	const begin = "OCI runtime exec failed: exec failed: unable to start container process: "
	for _, tc := range []struct {
		name      string
		code      int
		output    string
		refused   bool
		noCommand bool
	}{
		{"not there", 127, begin + `exec: "seed": executable file not found in $PATH: unknown`, true, true},
		{"not there, by another engine", 126, begin + `exec: "/seed": stat /seed: no such file or directory: unknown`, true, true},
		{"no program", 126, begin + "exec /data: exec format error: unknown", true, true},
		{"not executable", 126, begin + `exec: "/etc/hosts": permission denied: unknown`, true, true},
		{"the container ended meanwhile", 126, "OCI runtime exec failed: exec failed: cannot exec in a stopped container: unknown", true, false},
		{"a shell's own word", 127, "sh: 1: seed: not found", false, false},
		{"a command that fails", 1, begin, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := refused(tc.code, []byte(tc.output))
			if (err != nil) != tc.refused || errors.Is(err, experiment.ErrNoCommand) != tc.noCommand {
				t.Errorf("got %v", err)
			}
		})
	}
}
