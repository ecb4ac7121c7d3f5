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
// Files of a service lie in its directory, volumes in that of the run: ${file:PATH}
// becomes their path on this host. A service that has ended can be started again, on
// the same ports and with the same volumes.
//
// When the main process of a service ends, everything that it started is killed,
// as in a container. What is started is first written to a state file, so that
// whatever a ceteris that was killed has left can be found by the next one and
// told from other processes beyond doubt.
//
// What is not done: limits are not put into force (Host.Enforces says so), network and
// all other files are those of the host, volumes and mounts are never read-only,
// throttling and network counters are absent, and death for lack of memory is not
// recognised. What left its group, lost its parent and cleared its environment is not
// found again.
package process
