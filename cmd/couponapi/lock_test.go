package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLockExcludes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		var all sync.WaitGroup
		var inside atomic.Int64
		began := time.Now()
		for range 50 {
			all.Go(func() {
				if err := l.acquire(t.Context()); err != nil {
					t.Error(err)
					return
				}
				defer l.release()
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d inside", n)
				}
				time.Sleep(time.Millisecond)
				inside.Add(-1)
			})
		}
		all.Wait()
		if took := time.Since(began); took != 50*time.Millisecond {
			t.Errorf("50 turns of 1 ms took %v: the lock stood idle or open", took)
		}
	})
}

func TestLockIsLeftByThoseWhoGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		if err := l.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- l.acquire(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		l.release()
		if err := l.acquire(t.Context()); err != nil { // hangs, and synctest says so, if it was handed to nobody
			t.Error(err)
		}
	})
}

// A turn that comes together with the end of the context must be passed on.
func TestLockTurnAndEndTogether(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			var l lock
			if err := l.acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan error, 1)
			go func() {
				err := l.acquire(ctx)
				if err == nil {
					l.release()
				}
				got <- err
			}()
			synctest.Wait()
			cancel()
			l.release()
			if err := <-got; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if l.held || len(l.waiters) != 0 {
				t.Fatal("the lock was lost")
			}
		})
	}
}

func TestRequestsThatBeganTogetherDoNotEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(slowPool{roundTrip: time.Millisecond}, true)
		const users, cycle = 64, 640 * time.Millisecond // served in order, all end every cycle
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var done atomic.Int64
		for user := range uint64(users) {
			all.Go(func() {
				l := &lookup{store: s, roundTrips: 1}
				for ctx.Err() == nil {
					if _, err := l.available(ctx, user); err == nil {
						done.Add(1)
					}
				}
			})
		}
		time.Sleep(20 * cycle)
		for i := range 20 {
			before := done.Load()
			time.Sleep(cycle / 2)
			if n := done.Load() - before; n < 8 || n > 56 { // in step: 0 or 64; else about 32, standard deviation under 4
				t.Errorf("half cycle %d: %d requests ended", i, n)
			}
		}
		stop()
		all.Wait()
	})
}
