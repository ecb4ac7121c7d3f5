// Package process runs services as processes of this host, without containers:
// for hosts without an engine, for quick looks and for the tests of ceteris.
//
// Each service has a process group of its own, is pinned before it is executed,
// and runs in a directory of its own inside that of the run. It sees PATH as
// ceteris does, HOME and TMPDIR inside its directory, its own variables, and
// CETERIS_RUN, the marker by which everything that it starts is found again;
// nothing else of ceteris' environment. Declared ports are mapped to free ones
// below the ephemeral range: ${self:PORT} becomes 127.0.0.1:REAL, and so do the
// ports of ready and confirm steps. A port counts as ready only while the
// listening socket belongs to the service.
//
// When the main process of a service ends, everything that it started is killed,
// as in a container. What is started is first written to a state file, so that
// whatever a ceteris that was killed has left can be found by the next one and
// told from other processes beyond doubt.
//
// What is not done: limits are not put into force (Host.Enforces says so), files
// and network are those of the host, throttling and network counters are absent,
// and death for lack of memory is not recognised.
package process
