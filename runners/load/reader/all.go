package reader

import "github.com/ceteris/ceteris/experiment"

// All gives the reader of each tool, by its name in a matrix and on the command line.
func All() map[string]experiment.OutputReader {
	out := map[string]experiment.OutputReader{}
	for _, t := range []tool{bombardier(), fortio(), h2load(), hey(), jmeter(), k6(), ngrinder(), pgbench(), redisBenchmark(), vegeta(), wrk(), wrk2()} {
		out[t.name] = t
	}
	return out
}
