package load

import (
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The memory of distributions does not grow with the number of slices, whichever shards
// successes come to.
func TestDistributionsAreUsedAgain(t *testing.T) {
	l := experiment.Load{Closed: &experiment.ClosedLoad{Users: 2}, Connections: 2, Measure: 100 * time.Second, Timeout: time.Second, Requests: []experiment.Request{{}}}
	for _, tc := range []struct {
		name   string
		shards []int // that successes come to, in turn of the slices
	}{
		{"the first", []int{0}},
		{"the second", []int{1}},
		{"in turn", []int{0, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRecorder(l)
			for len(r.shards) < 2 {
				r.shards = append(r.shards, newShard(l, 0))
			}
			width := l.SliceWidth()
			for i := range 100 {
				at := time.Duration(i)*width + width/2
				s := r.shards[tc.shards[i%len(tc.shards)]]
				s.start(0, at, at)
				s.done(0, at, at, at+time.Millisecond, outcome{status: 200})
				r.recycle(r.closeSlices(at+width+settle, false))
			}
			spare := 0
			for _, s := range r.shards {
				spare += len(s.spare)
			}
			if spare > 2*len(r.shards) {
				t.Errorf("%d distributions are kept after 100 slices of one each", spare)
			}
		})
	}
}
