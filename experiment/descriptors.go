package experiment

// OpenFiles is the limit of open files that containers get where the engine allows it,
// so that it is the same everywhere.
const OpenFiles = 20_000

// ownDescriptors is what a generator needs beside its connections: the standard ones,
// the poller's, its data and those of a resolver, and room for some that are on their
// way to be closed.
const ownDescriptors = 64

// Descriptors is how many file descriptors the built-in generator needs for the load.
func (l Load) Descriptors() int { return max(l.Connections, 0) + ownDescriptors }
