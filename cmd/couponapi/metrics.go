package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// metrics renders the counters in Prometheus's text format. They are read one
// after another, not all at one instant.
func (s *server) metrics() []byte {
	active, pending := s.backend.usage()
	var p page
	p.gauge("couponapi_threads_busy", "Threads at work.", s.workers.busy())
	p.gauge("couponapi_threads_max", "Threads there are.", s.workers.max())
	p.gauge("couponapi_queue_length", "Requests waiting for a thread.", s.workers.queued())
	p.gauge("couponapi_pool_active", "Connections to Redis in use.", active)
	p.gauge("couponapi_pool_max", "Connections to Redis that may be open.", s.cfg.PoolSize)
	p.gauge("couponapi_pool_pending", "Operations waiting for a connection.", pending)

	p.head("couponapi_ping_seconds", "Time of the validating PINGs, inside the lock.", "summary")
	p.sample("couponapi_ping_seconds_sum", time.Duration(s.store.pingNanos.Load()).Seconds())
	p.sample("couponapi_ping_seconds_count", float64(s.store.pings.Load()))
	p.counter("couponapi_commands_total", "Commands sent to Redis for requests, PINGs included.", s.store.commands.Load())
	p.counter("couponapi_log_lines_total", "Log lines written.", s.out.lines.Load())
	p.counter("couponapi_log_discarded_total", "Log lines discarded by a full queue.", s.out.discarded.Load())

	p.head("couponapi_requests_total", "Requests ended, by status; 499: the client left first.", "counter")
	for _, code := range slices.Sorted(maps.Keys(s.statuses)) {
		p.sample(`couponapi_requests_total{status="`+strconv.Itoa(code)+`"}`, float64(s.statuses[code].Load()))
	}
	return p
}

// page is text in the exposition format.
type page []byte

func (p *page) head(name, help, kind string) {
	*p = fmt.Appendf(*p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) sample(name string, v float64) {
	*p = append(*p, name+" "+strconv.FormatFloat(v, 'f', -1, 64)+"\n"...)
}

func (p *page) gauge(name, help string, v int) {
	p.head(name, help, "gauge")
	p.sample(name, float64(v))
}

func (p *page) counter(name, help string, v int64) {
	p.head(name, help, "counter")
	p.sample(name, float64(v))
}
