package reader

import "github.com/ceteris/ceteris/experiment"

// All gives the reader of each tool, by its name in a matrix and on the command line.
func All() map[string]experiment.OutputReader {
	out := map[string]experiment.OutputReader{}
	for _, t := range []tool{k6(), vegeta(), wrk(), wrk2(), h2load(), bombardier(), pgbench(), redisBenchmark()} {
		out[t.name] = t
	}
	return out
}
