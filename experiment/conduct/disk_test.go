package conduct

import "testing"

func TestDiskGuard(t *testing.T) {
	const mib = 1 << 20
	type looks []int64 // free MiB before each run
	for _, tc := range []struct {
		name  string
		floor int64
		free  looks
		want  string // at the last look
	}{
		{"enough", 64, looks{64, 64}, ""},
		{"less than the floor", 64, looks{63}, "/data has 63.0 MiB left, and a run may need 64.0 MiB"},
		{"runs keep 10 MiB each", 64, looks{104, 94, 84, 74}, ""},
		{"runs keep 10 MiB each, and one more would not fit", 64, looks{103, 93, 83, 73}, "/data has 73.0 MiB left, and a run may need 74.0 MiB"},
		{"one run kept 36 MiB", 64, looks{100, 64}, "/data has 64.0 MiB left, and a run may need 100.0 MiB"},
		{"room that grows needs no more", 64, looks{70, 900, 64}, "/data has 64.0 MiB left, and a run may need 67.0 MiB"},
		{"gibibytes", 2048, looks{1024}, "/data has 1.0 GiB left, and a run may need 2.0 GiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var g diskGuard
			for i, free := range tc.free {
				all := []DiskFree{{Path: "/roomy", Free: 1 << 50}, {Path: "/data", Free: free * mib, Floor: tc.floor * mib}}
				got := ""
				if err := g.tooLittle(all); err != nil {
					got = err.Error()
				}
				want := ""
				if i == len(tc.free)-1 {
					want = tc.want
				}
				if got != want {
					t.Errorf("look %d: got %q, want %q", i+1, got, want)
				}
			}
		})
	}
}
