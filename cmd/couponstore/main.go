// Command couponstore stands in for Redis where there is no container engine: it
// is miniredis, a Redis in one Go process, listening at LISTEN (HOST:PORT). It
// starts empty and keeps nothing.
//
// Exit codes: 0 after SIGTERM or Ctrl-C, 1 where it cannot listen, 2 for a bad
// LISTEN. Not done here: anything that miniredis does not do, and Redis's speed.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Getenv("LISTEN"), os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends and gives the exit code.
func run(ctx context.Context, listen string, stderr io.Writer) int {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		fmt.Fprintf(stderr, "couponstore: LISTEN: %v (want HOST:PORT)\n", err)
		return 2
	}
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(listen); err != nil {
		fmt.Fprintf(stderr, "couponstore: %v\n", err)
		return 1
	}
	defer redis.Close()
	<-ctx.Done()
	return 0
}
