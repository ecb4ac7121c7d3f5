package process

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/ceteris/ceteris/experiment"
)

// fewestPorts is how large a range has to be to be of use, mostPorts how large it
// is at most.
const (
	fewestPorts = 64
	mostPorts   = 12_768
)

// portRange gives out ports that the kernel gives to no client: a connection of
// the load can never sit on the port of a service. It goes round, so that a port
// with connections in TIME_WAIT is not used again soon.
type portRange struct {
	mu   sync.Mutex
	next int
}

// port is a port that no other ceteris takes while it is held.
type port struct {
	number int
	claim  net.Listener
}

func (p port) release() error { return p.claim.Close() }

// take finds a free port. Concurrent invocations of ceteris claim a port by an
// abstract socket, which is known all over the network namespace, as the port is,
// and which vanishes with its holder, however that ends.
func (r *portRange) take(ctx context.Context) (port, error) {
	lo, hi, err := ephemeral()
	if err != nil {
		return port{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next < lo || r.next > hi {
		r.next = lo + rand.IntN(hi-lo+1)
	}
	for range hi - lo + 1 {
		n := r.next
		if r.next++; r.next > hi {
			r.next = lo
		}
		claim, err := (&net.ListenConfig{}).Listen(ctx, "unix", "@ceteris-port-"+strconv.Itoa(n))
		if ctx.Err() != nil {
			return port{}, ctx.Err()
		}
		if err != nil {
			continue // another ceteris has it
		}
		if free(ctx, n) {
			return port{number: n, claim: claim}, nil
		}
		if err := claim.Close(); err != nil {
			return port{}, fmt.Errorf("give up port %d: %w", n, err)
		}
	}
	return port{}, fmt.Errorf("no port is free from %d to %d", lo, hi)
}

// free tries the port on all addresses, which fails if it is taken on any.
func free(ctx context.Context, n int) bool {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(n))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// ephemeral gives the range of ports for services: below the kernel's ephemeral
// range, by default 20000 to 32767, else above it.
func ephemeral() (lo, hi int, err error) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0, fmt.Errorf("%w: range of ephemeral ports: %w", experiment.ErrCannotRun, err)
	}
	return servicePorts(string(b))
}

func servicePorts(ephemeral string) (lo, hi int, err error) {
	var first, last int
	if _, err := fmt.Sscan(ephemeral, &first, &last); err != nil {
		return 0, 0, fmt.Errorf("%w: range of ephemeral ports %q: %w", experiment.ErrCannotRun, ephemeral, err)
	}
	if lo, hi = max(1024, first-mostPorts), first-1; hi-lo+1 >= fewestPorts {
		return lo, hi, nil
	}
	if lo, hi = last+1, min(65535, last+mostPorts); hi-lo+1 >= fewestPorts {
		return lo, hi, nil
	}
	return 0, 0, experiment.WithHint(
		fmt.Errorf("%w: %w", experiment.ErrCannotRun, errors.New("the ephemeral range leaves no ports for services")),
		"sysctl net.ipv4.ip_local_port_range='32768 60999'")
}
