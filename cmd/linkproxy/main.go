// Command linkproxy serves the links of a run: it is toxiproxy's own server,
// with its whole HTTP API, and one more toxic, "delay", whose latency is given
// in microseconds (toxiproxy's "latency" knows whole milliseconds only).
//
// LISTEN (HOST:PORT) is where the API listens. A link is made by
//
//	POST /proxies              {"name": "l", "listen": "0.0.0.0:0", "upstream": "redis:6379", "enabled": true}
//	POST /proxies/l/toxics     {"name": "delay", "type": "delay", "stream": "downstream", "attributes": {"delay_us": 200}}
//
// Only errors are logged, as JSON on stderr (toxiproxy warns at every ordinary
// close of a connection). SIGTERM and Ctrl-C close the links and end it with 0;
// a bad LISTEN is exit 2; an address that cannot be listened on is exit 1.
//
// Not done here: metrics, a file of proxies, and half-closed connections, which
// toxiproxy closes in both directions.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Getenv("LISTEN"), os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends and gives the exit code.
func run(ctx context.Context, listen string, stderr io.Writer) int {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		fmt.Fprintf(stderr, "linkproxy: LISTEN: %v (want HOST:PORT)\n", err)
		return 2
	}
	toxics.Register(delayType, new(delayToxic))
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.New(stderr).Level(zerolog.ErrorLevel))
	go server.Listen(host, port) // never returns; ends the process with 1 where it cannot listen
	<-ctx.Done()
	return 0 // the end of the process closes the links, as in toxiproxy's own command
}
