package experiment

import (
	"errors"
	"testing"
)

func TestRequiresCheck(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		name string
		need Requires
		host Host
		want string
	}{
		{"nothing", Requires{}, Host{}, ""},
		{"just enough", Requires{2, gib}, Host{Cores: CoreSet{0, 1}, Memory: gib}, ""},
		{"a core less", Requires{Cores: 3}, Host{Cores: CoreSet{4, 6}, Memory: gib}, "requires 3 cores, the host has 2: cannot measure here"},
		{"a byte less", Requires{Memory: gib}, Host{Cores: CoreSet{0}, Memory: gib - 1}, "requires 1073741824 B of memory, the host has 1073741823 B: cannot measure here"},
		{"neither", Requires{8, 16 * gib}, Host{Cores: CoreSet{0}, Memory: 15_700_000_000}, "requires 8 cores, the host has 1; 16 GiB of memory, the host has 14.62 GiB: cannot measure here"},
		{"as much as is sold", Requires{Memory: 1024 * gib}, Host{Memory: 1}, "requires 1024 GiB of memory, the host has 0 GiB: cannot measure here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.need.Check(c.host)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("got %v, want %q", err, c.want)
			case err != nil && !errors.Is(err, ErrCannotRun):
				t.Errorf("%v is no ErrCannotRun", err)
			}
		})
	}
}
