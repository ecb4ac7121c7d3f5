// Command couponapi is the reference subject: a coupon service whose every
// request reads ten policies from Redis, with the settings of a real service
// that hold such a path back. It exists to be measured, so each setting does one
// thing only, and what it does shows in /metrics.
//
// The environment sets it up; a value that cannot be used ends it at once:
//
//	LISTEN               HOST:PORT to serve on
//	REDIS_ADDR           HOST:PORT of Redis
//	ROUND_TRIPS          operations a policy, one after another (1)
//	FANOUT               false: the policies one after another; true: all at once (false)
//	POLICY_BYTES         of JSON that Redis holds for each policy, 170 at the least (170)
//	VALIDATE_CONNECTION  true: a PING inside one process-wide lock before each operation (false)
//	POOL_SIZE            connections to Redis, all opened before the start (64)
//	THREADS              requests worked on at once; the others queue in order (32)
//	LOG_LEVEL            off; info: both bodies of every request; debug: every operation too (off)
//	LOG_APPENDER         sync: the request waits for the write; async: a queue does (sync)
//	LOG_QUEUE            lines in the queue of async; above they are discarded (1024)
//
// It answers GET /coupons/available?user=N, /healthz, /config (the settings in
// force) and /metrics (Prometheus text). The last three pass by THREADS, so that
// they also answer when it is exhausted.
//
// With VALIDATE_CONNECTION the throughput has a ceiling that no number of
// threads or connections moves: 1 / (operations a request x PING round trip).
//
// Exit codes: 0 after SIGTERM or Ctrl-C, 1 when Redis does not answer within 5 s
// or the address is taken, 2 for bad settings. Not done here: issuing coupons,
// authentication, TLS.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"
)

// grace is how long requests may go on after the signal to end.
const grace = time.Second

func main() {
	logging.Disable() // the Redis client's own log; its errors arrive as values
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.LookupEnv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends and gives the exit code.
func run(ctx context.Context, lookup func(string) (string, bool), stdout, stderr io.Writer) int {
	cfg, err := parseConfig(lookup)
	if err != nil {
		fmt.Fprintf(stderr, "couponapi: %v\n", err)
		return 2
	}
	if err := serve(ctx, cfg, stdout); err != nil {
		fmt.Fprintf(stderr, "couponapi: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, cfg config, stdout io.Writer) error {
	redis, err := openRedis(ctx, cfg.RedisAddr, cfg.PoolSize, cfg.PolicyBytes)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // asked to end before it began
	case err != nil:
		return err
	}
	defer redis.Close()
	out := newAppender(stdout, cfg)
	defer out.close()
	s := newServer(ctx, cfg, redis, out)

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := web.Shutdown(last); errors.Is(err, context.DeadlineExceeded) {
		return web.Close() // what is still open had its time
	} else if err != nil {
		return err
	}
	return nil
}
