package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slowPool is a Redis as far away as roundTrip, with connections for everyone.
type slowPool struct {
	roundTrip time.Duration
	pingErr   error
	keys      chan string
}

func (p slowPool) ping(context.Context) error {
	time.Sleep(p.roundTrip)
	return p.pingErr
}

func (p slowPool) get(_ context.Context, key string) (string, error) {
	time.Sleep(p.roundTrip)
	if p.keys != nil {
		p.keys <- key
	}
	return "text of " + key, nil
}

// operations counts the reads that n goroutines finish in d.
func operations(t *testing.T, s *store, n int, d time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	done := 0
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.read(ctx, "k"); err == nil && ctx.Err() == nil {
					mu.Lock()
					done++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return done
}

func TestValidationHasACeiling(t *testing.T) {
	const roundTrip = 2 * time.Millisecond // so the ceiling is 500/s
	for _, tc := range []struct {
		name     string
		validate bool
		threads  int
		want     int // in 10 s
	}{
		{"one thread needs two round trips", true, 1, 2500},
		{"two threads reach the ceiling", true, 2, 5000},
		{"8 do not pass it", true, 8, 5000},
		{"128 do not pass it", true, 128, 5000},
		{"without it, one thread", false, 1, 5000},
		{"without it, 128 threads", false, 128, 128 * 5000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(slowPool{roundTrip: roundTrip}, tc.validate)
				got := operations(t, s, tc.threads, 10*time.Second)
				if off := got - tc.want; off < -2*tc.threads || off > 0 { // those open at the end are not done
					t.Errorf("%d operations in 10 s, want %d", got, tc.want)
				}
				pings, took := s.pings.Load(), time.Duration(s.pingNanos.Load())
				if !tc.validate {
					if pings != 0 || took != 0 {
						t.Errorf("%d PINGs in %v, want none", pings, took)
					}
					return
				}
				if took != time.Duration(pings)*roundTrip {
					t.Errorf("%d PINGs took %v, want %v each", pings, took, roundTrip)
				}
			})
		})
	}
}

func TestFailedValidationStopsTheOperation(t *testing.T) {
	fault := errors.New("no pong")
	s := newStore(slowPool{pingErr: fault}, true)
	if _, err := s.read(t.Context(), "k"); !errors.Is(err, fault) {
		t.Errorf("got %v, want %v", err, fault)
	}
	if n := s.commands.Load(); n != 1 {
		t.Errorf("%d commands, want the PING only", n)
	}
	s.pool = slowPool{}
	if _, err := s.read(t.Context(), "k"); err != nil {
		t.Errorf("the lock was kept: %v", err)
	}
}

func TestLookup(t *testing.T) {
	const roundTrip = time.Millisecond
	want := [policiesPerRequest]string{}
	for i, id := range []int{42, 49, 56, 63, 70, 77, 84, 91, 98, 5} {
		want[i] = "text of " + policyKey(id)
	}
	for _, tc := range []struct {
		name       string
		roundTrips int
		fanout     bool
		validate   bool
		took       time.Duration
	}{
		{"in order", 1, false, false, 10 * roundTrip},
		{"in order, 5 round trips", 5, false, false, 50 * roundTrip},
		{"fanned out", 1, true, false, roundTrip},
		{"fanned out, 5 round trips", 5, true, false, 5 * roundTrip},
		{"in order, validated", 1, false, true, 20 * roundTrip},
		{"fanned out, validated: the lock puts them in order", 1, true, true, 11 * roundTrip},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := make(chan string, 100)
				s := newStore(slowPool{roundTrip: roundTrip, keys: keys}, tc.validate)
				l := &lookup{store: s, roundTrips: tc.roundTrips, fanout: tc.fanout}
				began := time.Now()
				got, err := l.available(t.Context(), 42)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				if n := len(keys); n != policiesPerRequest*tc.roundTrips {
					t.Errorf("%d operations, want %d", n, policiesPerRequest*tc.roundTrips)
				}
			})
		})
	}
}

func TestPoliciesOfAUserDiffer(t *testing.T) {
	for user := range uint64(1000) {
		seen := map[int]bool{}
		for i := range policiesPerRequest {
			id := policyOf(user, i)
			if id < 0 || id >= policies || seen[id] {
				t.Fatalf("user %d, policy %d: %d is out of range or twice", user, i, id)
			}
			seen[id] = true
		}
	}
}
