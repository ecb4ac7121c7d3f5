// Package load is the built-in load generator: what it sends, what it records
// and the protocol in which it tells the conductor.
//
// Vocabulary:
//
//   - The intended start of a request is when it should begin: under an open
//     load its place in the schedule, under a closed load the moment at which its
//     user became free (after thinking). Latency counts from it, so that a stall
//     shows in every request that had to wait for its end.
//   - The real send is when the generator took up the request: it had a place
//     among the connections and began to connect, where that was needed, and to
//     write. Service time and timeout count from it. Lateness is the real send
//     minus the intended start.
//   - A request is offered at its intended start; it is then sent, or dropped
//     (only under an open load, when in_flight requests are under way), or still
//     waits for a connection when drain ends. It is done when its response was
//     read whole (success: status 200 to 399) or when it failed. It is in flight
//     from its intended start until it is done.
//   - Ramp, warm-up, measured window and drain are the phases. Intended starts end
//     with the window. In drain, requests that were offered are finished, for up to
//     the timeout; what is open then is unfinished, and enters the latency
//     histogram at its age.
//   - All moments are durations from the window's start, negative before it;
//     intervals are half-open.
//
// Series hold one point a slice: offered, sent, done, failed, dropped (open load
// only) as counts, each at its own moment (intended start for offered and
// dropped, real send, completion); in_flight as mean; latency_p50, latency_p99
// and latency_max in seconds of the successes that completed in the slice, absent
// where there are none.
//
// What is not done here: HTTP/2, TLS, request bodies, Poisson arrivals. Histograms
// are encoded here and decoded in analysis.
package load
