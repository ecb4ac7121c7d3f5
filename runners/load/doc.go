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
//     (only under an open load, when in_flight requests are under way and arrivals
//     do not queue), or still waits for its turn when drain ends. It is done when
//     its response was read whole (success: an expected status, and a body that
//     holds what it must) or when it failed. It is in flight from its intended
//     start until it is done.
//   - Ramp, warm-up, measured window and drain are the phases. A load may declare
//     others in the place of the first three: measured ones, each a window of its
//     own, and unmeasured ones, which are told as warm-up wherever they stand.
//     Intended starts end with the load. In drain, requests that were offered are
//     finished, for up to the timeout; what is open then is unfinished, and enters
//     the latency histogram at its age.
//   - All moments are durations from the first window's start, negative before it;
//     intervals are half-open. Where a warm-up lasts until it is steady, they count
//     from the earliest possible start instead; the reader of the protocol counts
//     from the real one.
//   - A leg is a stretch of a load in which it keeps one shape. A lane is arrival
//     processes one after another with one account of what is in flight: the load's
//     own phases, and each stream.
//
// A response time belongs to the window of its intended start, a completion to the
// window in which it comes. An event that belongs to no window is in the totals.
//
// Series hold one point a slice: offered, sent, done, failed, dropped (open load
// only) as counts, each at its own moment (intended start for offered and
// dropped, real send, completion); in_flight as mean; latency_p50, latency_p99
// and latency_max in seconds of the successes that completed in the slice, absent
// where there are none.
//
// Besides the metrics of the window, NAME:METRIC is that of a measured phase and
// METRIC{NAME} that of a named request; warmup_seconds and warmup_steady (1 or 0) tell
// of a warm-up whose length was left open, work_missing of fixed work that was not
// done in time.
//
// What is not done here: compressed bodies are not opened, redirects not followed,
// sessions of TLS not resumed, and nothing is sent twice; HTTP/3. Histograms are encoded
// here and decoded in analysis.
package load
