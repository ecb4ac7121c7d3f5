package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lookupIn gives the variables on top of the two that have no default.
func lookupIn(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		v, ok := map[string]string{"LISTEN": "127.0.0.1:8080", "REDIS_ADDR": "redis:6379"}[name]
		return v, ok
	}
}

func TestParseConfig(t *testing.T) {
	usual := config{
		Listen: "127.0.0.1:8080", RedisAddr: "redis:6379", LogLevel: "off", LogAppender: "sync", LogQueue: 1024,
		PoolSize: 64, Threads: 32, RoundTrips: 1, OperationsPerRequest: 10, PolicyBytes: 170,
	}
	for _, tc := range []struct {
		name string
		vars map[string]string
		want func(*config)
	}{
		{"defaults", nil, func(*config) {}},
		{"all set", map[string]string{
			"LISTEN": "0.0.0.0:80", "REDIS_ADDR": "[::1]:1", "LOG_LEVEL": "debug", "LOG_APPENDER": "async", "LOG_QUEUE": "1",
			"VALIDATE_CONNECTION": "true", "POOL_SIZE": "1", "THREADS": "128", "ROUND_TRIPS": "5", "FANOUT": "true", "POLICY_BYTES": "4096",
		}, func(c *config) {
			*c = config{
				Listen: "0.0.0.0:80", RedisAddr: "[::1]:1", LogLevel: "debug", LogAppender: "async", LogQueue: 1,
				ValidateConnection: true, PoolSize: 1, Threads: 128, RoundTrips: 5, Fanout: true, OperationsPerRequest: 50, PolicyBytes: 4096,
			}
		}},
		{"defaults said", map[string]string{"LOG_LEVEL": "off", "FANOUT": "false", "VALIDATE_CONNECTION": "false"}, func(*config) {}},
		{"info", map[string]string{"LOG_LEVEL": "info"}, func(c *config) { c.LogLevel = "info" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := usual
			tc.want(&want)
			got, err := parseConfig(lookupIn(tc.vars))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseConfigFaults(t *testing.T) {
	for _, tc := range []struct{ variable, value, fault string }{
		{"LISTEN", "", `LISTEN: "" is no HOST:PORT`},
		{"LISTEN", "8080", `LISTEN: "8080" is no HOST:PORT`},
		{"LISTEN", "h:0", `LISTEN: "h:0" is no HOST:PORT`},
		{"REDIS_ADDR", "redis:http", `REDIS_ADDR: "redis:http" is no HOST:PORT`},
		{"REDIS_ADDR", "redis:65536", `REDIS_ADDR: "redis:65536" is no HOST:PORT`},
		{"ROUND_TRIPS", "0", "ROUND_TRIPS: 0 lies outside 1 to 1000"},
		{"FANOUT", "yes", `FANOUT: "yes" is none of false, true`},
		{"VALIDATE_CONNECTION", "", `VALIDATE_CONNECTION: "" is none of false, true`},
		{"POOL_SIZE", "0", "POOL_SIZE: 0 lies outside 1 to 10000"},
		{"POOL_SIZE", "many", `POOL_SIZE: "many" is no whole number`},
		{"THREADS", "-1", "THREADS: -1 lies outside 1 to 100000"},
		{"THREADS", "1.5", `THREADS: "1.5" is no whole number`},
		{"LOG_LEVEL", "INFO", `LOG_LEVEL: "INFO" is none of off, info, debug`},
		{"LOG_APPENDER", "none", `LOG_APPENDER: "none" is none of sync, async`},
		{"LOG_QUEUE", "0", "LOG_QUEUE: 0 lies outside 1 to 1000000"},
	} {
		t.Run(tc.variable+"="+tc.value, func(t *testing.T) {
			_, err := parseConfig(lookupIn(map[string]string{tc.variable: tc.value}))
			if err == nil || err.Error() != tc.fault {
				t.Errorf("got %v, want %s", err, tc.fault)
			}
		})
	}
}

func TestAllFaultsInOneLine(t *testing.T) {
	var stdout, stderr strings.Builder
	vars := map[string]string{"THREADS": "0", "FANOUT": "on"}
	code := run(t.Context(), func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, &stdout, &stderr)
	const want = "couponapi: LISTEN: missing (want HOST:PORT); REDIS_ADDR: missing (want HOST:PORT); " +
		"THREADS: 0 lies outside 1 to 100000; FANOUT: \"on\" is none of false, true\n"
	if code != 2 || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit %d, stderr %q; want 2 and %q", code, &stderr, want)
	}
}
