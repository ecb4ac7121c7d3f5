package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// pool is the part of a Redis client that requests use. Both calls take a
// connection of the same pool for one round trip.
type pool interface {
	ping(ctx context.Context) error
	get(ctx context.Context, key string) (string, error)
}

// store carries out operations, each after a validation if that is set.
type store struct {
	pool     pool
	validate bool

	lock lock // the one process-wide mutex of the validation

	commands  atomic.Int64 // all commands sent for requests, PINGs included
	pings     atomic.Int64
	pingNanos atomic.Int64
}

func newStore(p pool, validate bool) *store {
	return &store{pool: p, validate: validate}
}

// read is one operation: a GET, outside the lock at both levels of the setting.
func (s *store) read(ctx context.Context, key string) (string, error) {
	if s.validate {
		if err := s.validateConnection(ctx); err != nil {
			return "", fmt.Errorf("validate connection: %w", err)
		}
	}
	s.commands.Add(1)
	return s.pool.get(ctx, key)
}

// validateConnection sends the PING inside the lock. The time it records runs
// from the lock to the answer, the wait for a connection included: what the next
// one in line waits for.
func (s *store) validateConnection(ctx context.Context) error {
	if err := s.lock.acquire(ctx); err != nil {
		return err
	}
	defer s.lock.release()
	s.commands.Add(1)
	began := time.Now()
	err := s.pool.ping(ctx)
	s.pingNanos.Add(int64(time.Since(began)))
	s.pings.Add(1)
	return err
}
