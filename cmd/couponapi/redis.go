package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"golang.org/x/sync/errgroup"
)

const (
	redisAnswers = 5 * time.Second        // how long Redis may take to answer at the start
	redisRetry   = 100 * time.Millisecond // between tries
)

// redisPool is a Redis client that sends what requests ask for and nothing else:
// no retries, no identification, no notifications, no connections opened or
// closed under load.
type redisPool struct {
	client      *redis.Client
	policyBytes int
}

func (p redisPool) ping(ctx context.Context) error { return p.client.Ping(ctx).Err() }
func (p redisPool) get(ctx context.Context, key string) (string, error) {
	return p.client.Get(ctx, key).Result()
}

// Close closes all connections.
func (p redisPool) Close() error { return p.client.Close() }

// usage gives the connections in use and the requests waiting for one.
func (p redisPool) usage() (active, pending int) {
	s := p.client.PoolStats()
	return int(s.TotalConns) - int(s.IdleConns), int(s.PendingRequests)
}

// openRedis waits until Redis answers, puts the policies there if they are
// missing, and opens all size connections, so that none is opened under load.
func openRedis(ctx context.Context, addr string, size, policyBytes int) (redisPool, error) {
	p := redisPool{policyBytes: policyBytes, client: redis.NewClient(&redis.Options{
		Addr:                     addr,
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              time.Second,
		ContextTimeoutEnabled:    true,        // for the start; requests have no deadline
		ReadTimeout:              time.Minute, // clients give up earlier
		PoolTimeout:              time.Hour,   // waiting for a connection is no error
		PoolSize:                 size,
		MaxActiveConns:           size,
		PipelinePoolSize:         -1, // the pipeline that seeds needs no pool of its own
		ConnMaxIdleTime:          -1,
		ReadBufferSize:           4096,
		WriteBufferSize:          1024,
	})}
	start, cancel := context.WithTimeout(ctx, redisAnswers)
	defer cancel()
	err := p.awaitSeed(start)
	if err == nil {
		err = p.fill(start, size)
	}
	if err != nil {
		p.client.Close()
		return redisPool{}, fmt.Errorf("redis at %s: %w", addr, err)
	}
	return p, nil
}

// awaitSeed tries until it succeeds or ctx ends; then it gives the last error
// that was not ctx's own.
func (p redisPool) awaitSeed(ctx context.Context) error {
	err := p.seed(ctx)
	for err != nil {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(redisRetry):
		}
		if again := p.seed(ctx); again == nil || ctx.Err() == nil {
			err = again
		}
	}
	return nil
}

// seed writes the policies that are missing, in one round trip.
func (p redisPool) seed(ctx context.Context) error {
	_, err := p.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for id := range policies {
			pipe.SetNX(ctx, policyKey(id), policyText(id, p.policyBytes), 0)
		}
		return nil
	})
	return err
}

// fill takes size connections at once, which opens and greets each, and gives
// them back. It sends no PING: those are counted.
func (p redisPool) fill(ctx context.Context, size int) error {
	var all errgroup.Group
	conns := make([]*redis.Conn, size)
	for i := range conns {
		conns[i] = p.client.Conn()
		all.Go(func() error { return conns[i].Get(ctx, policyKey(0)).Err() })
	}
	err := all.Wait()
	for _, c := range conns {
		_ = c.Close() // back into the pool
	}
	return err
}
