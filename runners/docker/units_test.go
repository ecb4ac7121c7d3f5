package docker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/system"

	"github.com/ceteris/ceteris/experiment"
)

func TestCountLog(t *testing.T) {
	zero := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var log bytes.Buffer
	frame := func(stream byte, text string) {
		var header [8]byte
		header[0] = stream
		binary.BigEndian.PutUint32(header[4:], uint32(len(text)))
		log.Write(header[:])
		log.WriteString(text)
	}
	message := func(at time.Duration, text string) {
		frame(1+byte(log.Len()%2), zero.Add(at).Format("2006-01-02T15:04:05.000000000Z07:00")+" "+text)
	}
	message(-time.Nanosecond, "before\n")
	message(0, "two words\n")
	message(time.Millisecond, "a part, ")
	message(time.Millisecond, "and its end\n")
	message(2*time.Millisecond, "\n")
	message(time.Second, "after\n")

	for _, tc := range []struct {
		name     string
		from, to time.Duration
		want     experiment.LogVolume
	}{
		{"half-open, to the nanosecond", 0, time.Second, experiment.LogVolume{Bytes: 10 + 8 + 12 + 1, Lines: 3}},
		{"the end's own moment is out", 0, 2 * time.Millisecond, experiment.LogVolume{Bytes: 10 + 8 + 12, Lines: 2}},
		{"nothing", time.Minute, time.Hour, experiment.LogVolume{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := countLog(bytes.NewReader(log.Bytes()), zero.Add(tc.from), zero.Add(tc.to))
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
	t.Run("cut short", func(t *testing.T) {
		if _, err := countLog(bytes.NewReader(log.Bytes()[:log.Len()-1]), zero, zero.Add(time.Hour)); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a fault of the engine", func(t *testing.T) {
		log.Reset()
		frame(3, "disk on fire")
		if _, err := countLog(&log, zero, zero); err == nil || !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("got %v", err)
		}
	})
}

func TestStamp(t *testing.T) {
	if got := stamp(time.Unix(12, 345)); got != "12.000000345" {
		t.Errorf("got %s", got)
	}
}

func TestResumedRepeatsNothing(t *testing.T) {
	var out strings.Builder
	r := &resumed{w: &out}
	for _, attempt := range [][]string{{"ab", "cd"}, {"abc"}, {"abcde", "f"}, {"a", "b", "cdefg"}} {
		r.seen = 0
		for _, part := range attempt {
			if n, err := r.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("write %q: %d, %v", part, n, err)
			}
		}
	}
	if out.String() != "abcdefg" {
		t.Errorf("got %q, want abcdefg", out.String())
	}
}

func TestCountStats(t *testing.T) {
	const answer = `{"read":"2026-01-02T03:04:05.6Z",
		"cpu_stats":{"cpu_usage":{"total_usage":2500000000},"throttling_data":{"periods":9,"throttled_periods":4,"throttled_time":750000000}},
		"memory_stats":{"usage":1000,"max_usage":4000,"stats":{"total_inactive_file":300}},
		"networks":{"eth0":{"rx_bytes":10,"tx_bytes":20},"eth1":{"rx_bytes":1,"tx_bytes":2}}}`
	v1 := map[experiment.Counter]float64{
		experiment.CounterCPU: 2.5, experiment.CounterThrottled: 0.75,
		experiment.CounterMemory: 700, experiment.CounterMemoryPeak: 4000,
		experiment.CounterNetReceived: 11, experiment.CounterNetSent: 22,
	}
	v2 := map[experiment.Counter]float64{
		experiment.CounterCPU: 2.5, experiment.CounterThrottled: 0.75,
		experiment.CounterMemory: 700,
	}
	for _, tc := range []struct {
		name, answer string
		want         map[experiment.Counter]float64
	}{
		{"cgroup v1", answer, v1},
		{"cgroup v2, where the engine tells no peak; no network", strings.NewReplacer(`"max_usage":4000,`, "", "total_inactive_file", "inactive_file", `"networks"`, `"x"`).Replace(answer), v2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s container.StatsResponse
			if err := json.Unmarshal([]byte(tc.answer), &s); err != nil {
				t.Fatal(err)
			}
			got := map[experiment.Counter]float64{}
			countStats(s, got)
			approx := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
			if d := cmp.Diff(tc.want, got, approx); d != "" {
				t.Errorf("counters (-want +got):\n%s", d)
			}
		})
	}
}

// A log is one file that is never rotated away: what is counted is what was written.
func TestLogIsOneFile(t *testing.T) {
	var h container.HostConfig
	(&env{r: &Runner{}}).configure(&h, experiment.Service{Name: "app"})
	want := container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "268435456", "max-file": "4", "mode": "blocking"}}
	if d := cmp.Diff(want, h.LogConfig); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

func TestDescribe(t *testing.T) {
	info := system.Info{
		Name: "elsewhere", OSType: "linux", Architecture: "aarch64", KernelVersion: "6.1", ServerVersion: "27.0",
		NCPU: 3, MemTotal: 1 << 30, CPUSet: true, MemoryLimit: true,
	}
	got := describe(info, false)
	want := experiment.Host{
		Name: "elsewhere", OS: "linux", Arch: "arm64", Kernel: "6.1", Engine: "docker 27.0",
		Cores: experiment.CoreSet{0, 1, 2}, Memory: 1 << 30, Enforces: experiment.Enforces{Cores: true, Memory: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("host (-want +got):\n%s", d)
	}
}

func TestIsLocal(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Skip(err)
	}
	kernel := strings.TrimSpace(string(release))
	for _, tc := range []struct {
		name, daemon, host, kernel string
		want                       bool
	}{
		{"socket, same kernel, same name", "unix:///var/run/docker.sock", name, kernel, true},
		{"over the network", "tcp://127.0.0.1:2375", name, kernel, false},
		{"a machine of its own behind a socket", "unix:///run/desktop.sock", "docker-desktop", kernel, false},
		{"another kernel behind a socket", "unix:///run/desktop.sock", name, "1.0-linuxkit", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := isLocal(tc.daemon, system.Info{Name: tc.host, KernelVersion: tc.kernel}); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestReachable(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil || len(addrs) == 0 {
		t.Skipf("no interfaces: %v", err)
	}
	own := netip.MustParsePrefix(addrs[0].String()).Addr()
	behind := func(gateway netip.Addr) network.Inspect {
		var n network.Inspect
		n.IPAM.Config = []network.IPAMConfig{{Gateway: gateway}}
		return n
	}
	if !reachable(behind(own)) {
		t.Errorf("a network whose gateway is our own %s is out of reach", own)
	}
	if reachable(behind(netip.MustParseAddr("198.51.100.77"))) {
		t.Error("a network behind a gateway that is not ours is within reach")
	}
	if reachable(network.Inspect{}) {
		t.Error("a network without a gateway is within reach")
	}
}

// TestWithoutEngine runs itself in a process of its own: the library keeps what it
// found for the life of the process.
func TestWithoutEngine(t *testing.T) {
	const inside = "CETERIS_TEST_WITHOUT_ENGINE"
	if os.Getenv(inside) == "" {
		for _, host := range []string{"unix://" + filepath.Join(t.TempDir(), "none.sock"), "nonsense", "tcp://"} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWithoutEngine$", "-test.v")
			cmd.Env = append(os.Environ(), inside+"=1", "DOCKER_HOST="+host)
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestWithoutEngine")) {
				t.Errorf("%s: %v\n%s", host, err, out)
			}
		}
		return
	}
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, check := r.Check(t.Context())
	_, prepare := r.Prepare(t.Context(), nil)
	_, open := r.Open(t.Context(), experiment.RunKey{})
	_, leftovers := r.Leftovers(t.Context())
	for name, err := range map[string]error{"check": check, "prepare": prepare, "open": open, "leftovers": leftovers} {
		hint := new(experiment.HintError)
		if !errors.Is(err, experiment.ErrNoRuntime) || !errors.As(err, &hint) {
			t.Errorf("%s: got %v, want %v with a hint", name, err, experiment.ErrNoRuntime)
		} else if want := "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to name %s", name, err, want)
		}
	}
}
