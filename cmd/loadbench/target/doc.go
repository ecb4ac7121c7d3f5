// Package target is the server against which load generators are measured: HTTP/1.1
// with keep-alive and pipelining, one thread, a tiny response, and a record of its own
// of what came and when.
//
// Vocabulary:
//
//   - A stretch is what is counted from one Begin to the next: requests by the status
//     that answered them, connections that were accepted.
//   - A record is one request of a stretch that asked for records: when it arrived (was
//     read from its connection), when its response was written, and the number in its
//     query, if there is one. All moments are ns of CLOCK_MONOTONIC, which every process
//     of the host reads alike.
//   - A stall is a time in which the server does nothing at all: what arrives in it is
//     read when it ends.
//
// Requests are GETs without a body. The path /NNN is answered with that status, any
// other path with 200; a query ?N gives the request its number. What is anything else is
// answered with 400, counted as malformed, and its connection closed.
//
// The server reads its commands on standard input and answers each on standard output,
// one JSON object a line. It ends when its input does.
//
// What is not done: TLS, bodies, HTTP/1.0, any system but Linux.
package target
