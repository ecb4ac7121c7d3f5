package conduct

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// member is a launched service under the name by which it is known in its network:
// that of the service, or NAME-1 to NAME-n of its replicas.
type member struct {
	name string
	proc experiment.Proc
}

// replicas are the copies of a service as one: their counters are added, and what one
// of them does by itself, the service does.
type replicas struct {
	name    string
	members []member
}

var (
	_ experiment.Proc     = (*replicas)(nil)
	_ experiment.LogMeter = (*replicas)(nil)
)

// membersOf gives the copies of a launched service.
func membersOf(name string, p experiment.Proc) []member {
	if r, ok := p.(*replicas); ok {
		return r.members
	}
	return []member{{name, p}}
}

// Addr implements experiment.Proc: to services that of the name behind which all stand
// where the runner knows names, to the conductor that of the first.
func (r *replicas) Addr(port int, from experiment.Vantage) (string, error) {
	first := r.members[0]
	addr, err := first.proc.Addr(port, from)
	if host, _, splitErr := net.SplitHostPort(addr); from == experiment.FromService && splitErr == nil && host == first.name {
		return net.JoinHostPort(r.name, strconv.Itoa(port)), err
	}
	return addr, err
}

// Logs implements experiment.Proc: one after another, each under its name.
func (r *replicas) Logs(ctx context.Context, follow bool) (io.ReadCloser, error) {
	if follow {
		return nil, fmt.Errorf("service %s: the output of replicas is not followed", r.name)
	}
	var all logChain
	var readers []io.Reader
	for _, m := range r.members {
		logs, err := m.proc.Logs(ctx, false)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.closers = append(all.closers, logs)
		readers = append(readers, strings.NewReader("==> "+m.name+" <==\n"), logs)
	}
	all.Reader = io.MultiReader(readers...)
	return &all, nil
}

type logChain struct {
	io.Reader
	closers []io.Closer
}

// Close closes all of them.
func (l *logChain) Close() error {
	var errs []error
	for _, c := range l.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Usage implements experiment.Proc: the sums, at the mean of the readings' times; they
// are read side by side. What is not known of one is not known of all. The time in which
// they were held back is the mean of theirs: it is a share of the window's.
func (r *replicas) Usage(ctx context.Context) (experiment.Usage, error) {
	all, errs := make([]experiment.Usage, len(r.members)), make([]error, len(r.members))
	var reading sync.WaitGroup
	for i, m := range r.members {
		reading.Go(func() { all[i], errs[i] = m.proc.Usage(ctx) })
	}
	reading.Wait()
	if err := errors.Join(errs...); err != nil {
		return experiment.Usage{}, err
	}
	sum := experiment.Usage{Counters: map[experiment.Counter]float64{}}
	known := map[experiment.Counter]int{}
	var later time.Duration
	for _, u := range all {
		later += u.At.Sub(all[0].At)
		for c, v := range u.Counters {
			sum.Counters[c] += v
			known[c]++
		}
	}
	for c, n := range known {
		if n < len(r.members) {
			delete(sum.Counters, c)
		}
	}
	if held, ok := sum.Counters[experiment.CounterThrottled]; ok {
		sum.Counters[experiment.CounterThrottled] = held / float64(len(r.members))
	}
	sum.At = all[0].At.Add(later / time.Duration(len(r.members)))
	return sum, nil
}

// Wait implements experiment.Proc: until the first of them ends.
func (r *replicas) Wait(ctx context.Context) (experiment.Exit, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		exit experiment.Exit
		err  error
	}
	ends := make(chan end, len(r.members))
	for _, m := range r.members {
		go func() {
			exit, err := m.proc.Wait(ctx)
			ends <- end{exit, err}
		}()
	}
	first := <-ends
	cancel()
	for range len(r.members) - 1 {
		<-ends
	}
	return first.exit, first.err
}

// Stop implements experiment.Proc.
func (r *replicas) Stop(ctx context.Context) error {
	var errs []error
	for _, m := range r.members {
		errs = append(errs, m.proc.Stop(ctx))
	}
	return errors.Join(errs...)
}

// LogVolume implements experiment.LogMeter.
func (r *replicas) LogVolume(ctx context.Context, from, to time.Time) (experiment.LogVolume, error) {
	var sum experiment.LogVolume
	unknown := false
	for _, m := range r.members {
		meter, ok := m.proc.(experiment.LogMeter)
		if !ok {
			return sum, fmt.Errorf("service %s: its log is not counted", m.name)
		}
		v, err := meter.LogVolume(ctx, from, to)
		if err != nil {
			return sum, err
		}
		unknown = unknown || v.Lines < 0
		sum.Bytes += v.Bytes
		sum.Lines += v.Lines
	}
	if unknown {
		sum.Lines = -1
	}
	return sum, nil
}

// launchCopies launches a service, or all its replicas one after another, and says how
// long the slowest took to get ready.
func (r *oneRun) launchCopies(ctx context.Context, svc experiment.Service) (experiment.Proc, time.Duration, error) {
	if svc.Replicas < 2 {
		began := time.Now()
		proc, err := r.env.Launch(ctx, svc)
		return proc, time.Since(began), err
	}
	all := &replicas{name: svc.Name}
	var slowest time.Duration
	for i := 1; i <= svc.Replicas; i++ {
		one := svc
		one.Name, one.Alias, one.Replicas = fmt.Sprintf("%s-%d", svc.Name, i), svc.Name, 0
		began := time.Now()
		proc, err := r.env.Launch(ctx, one)
		if err != nil {
			return nil, 0, err
		}
		slowest = max(slowest, time.Since(began))
		all.members = append(all.members, member{one.Name, proc})
	}
	return all, slowest, nil
}

// targets gives the addresses at which a service is loaded: each replica's own.
func (r *oneRun) targets(service string, port int) ([]string, error) {
	proc, ok := r.procs[service]
	if !ok {
		return nil, fmt.Errorf("load is aimed at %s, which does not run", service)
	}
	var all []string
	for _, m := range membersOf(service, proc) {
		addr, err := m.proc.Addr(port, experiment.FromService)
		if err != nil {
			return nil, err
		}
		all = append(all, addr)
	}
	return all, nil
}
