package docker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestCountersOfTheKernel(t *testing.T) {
	const id = "4f1c9d"
	const dev = "Inter-|   Receive\n face |bytes packets\n    lo: 999 1 0 0 0 0 0 0 999 1 0\n  eth0: 100 2 0 0 0 0 0 0 2000 3 0\n  eth1:5 2 0 0 0 0 0 0 7 3 0\n"
	v1 := map[string]string{
		"proc/321/cgroup":  "9:memory:/docker/4f1c9d\n3:cpuset:/\n2:cpu,cpuacct:/docker/4f1c9d\n0::/docker/4f1c9d\n",
		"proc/321/net/dev": dev,
		"sys/fs/cgroup/cpu,cpuacct/docker/4f1c9d/cpuacct.usage":        "2500000000\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/4f1c9d/cpu.stat":             "nr_periods 4\nthrottled_time 500000000\n",
		"sys/fs/cgroup/memory/docker/4f1c9d/memory.usage_in_bytes":     "5000\n",
		"sys/fs/cgroup/memory/docker/4f1c9d/memory.max_usage_in_bytes": "9000\n",
		"sys/fs/cgroup/memory/docker/4f1c9d/memory.stat":               "inactive_file 1\ntotal_inactive_file 1000\n",
	}
	v2 := func(group string) map[string]string {
		dir := "sys/fs/cgroup" + group
		return map[string]string{
			"proc/321/cgroup":  "0::" + group + "\n",
			"proc/321/net/dev": dev,
			dir + "/cpu.stat":  "usage_usec 2500000\nuser_usec 1\nthrottled_usec 500000\n", dir + "/memory.current": "5000\n",
			dir + "/memory.peak": "9000\n", dir + "/memory.stat": "anon 4000\ninactive_file 1000\n",
		}
	}
	without := func(files map[string]string, names ...string) map[string]string {
		for _, n := range names {
			delete(files, n)
		}
		return files
	}
	all := map[experiment.Counter]float64{
		experiment.CounterCPU: 2.5, experiment.CounterThrottled: 0.5, experiment.CounterMemory: 4000, experiment.CounterMemoryPeak: 9000,
		experiment.CounterNetReceived: 105, experiment.CounterNetSent: 2007,
	}
	lacking := func(c experiment.Counter) map[experiment.Counter]float64 {
		out := map[experiment.Counter]float64{}
		for k, v := range all {
			if k != c {
				out[k] = v
			}
		}
		return out
	}
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  map[experiment.Counter]float64 // nil: not read from the kernel
	}{
		{"version 1", v1, all},
		{"version 2 by systemd", v2("/system.slice/docker-4f1c9d.scope"), all},
		{"version 2 by cgroupfs", v2("/docker/4f1c9d"), all},
		{"a kernel that keeps no peak", without(v2("/docker/4f1c9d"), "sys/fs/cgroup/docker/4f1c9d/memory.peak"), lacking(experiment.CounterMemoryPeak)},
		{"no processor time", without(v2("/docker/4f1c9d"), "sys/fs/cgroup/docker/4f1c9d/cpu.stat"), nil},
		{"a process of somebody else under this number", v2("/docker/77aa01"), nil},
		{"no such process", without(v2("/docker/4f1c9d"), "proc/321/cgroup"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range tc.files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var got map[experiment.Counter]float64
			if g, ok := groupsOf(root, 321, id); ok {
				if u, known := g.usage(); known {
					got = u.Counters
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("counters (-want +got):\n%s", d)
			}
		})
	}
}
