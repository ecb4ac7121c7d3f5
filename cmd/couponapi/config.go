package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// policiesPerRequest is fixed: it is the work, not a setting.
const policiesPerRequest = 10

// config is the settings in force, as /config shows them.
type config struct {
	Listen               string `json:"listen"`
	RedisAddr            string `json:"redis_addr"`
	LogLevel             string `json:"log_level"`    // off, info, debug
	LogAppender          string `json:"log_appender"` // sync, async
	LogQueue             int    `json:"log_queue"`    // lines
	ValidateConnection   bool   `json:"validate_connection"`
	PoolSize             int    `json:"pool_size"` // connections
	Threads              int    `json:"threads"`
	RoundTrips           int    `json:"round_trips"` // operations a policy
	Fanout               bool   `json:"fanout"`
	PolicyBytes          int    `json:"policy_bytes"`
	OperationsPerRequest int    `json:"operations_per_request"` // PINGs not counted
}

// parseConfig reads the environment. The error is one line that names every
// fault, not the first only.
func parseConfig(lookup func(string) (string, bool)) (config, error) {
	e := env{lookup: lookup}
	c := config{
		Listen:             e.address("LISTEN"),
		RedisAddr:          e.address("REDIS_ADDR"),
		LogLevel:           e.oneOf("LOG_LEVEL", "off", "info", "debug"),
		LogAppender:        e.oneOf("LOG_APPENDER", "sync", "async"),
		LogQueue:           e.count("LOG_QUEUE", 1024, 1_000_000),
		ValidateConnection: e.oneOf("VALIDATE_CONNECTION", "false", "true") == "true",
		PoolSize:           e.count("POOL_SIZE", 64, 10_000),
		Threads:            e.count("THREADS", 32, 100_000),
		RoundTrips:         e.count("ROUND_TRIPS", 1, 1_000),
		Fanout:             e.oneOf("FANOUT", "false", "true") == "true",
		PolicyBytes:        e.count("POLICY_BYTES", 170, 64<<10),
	}
	c.OperationsPerRequest = policiesPerRequest * c.RoundTrips
	if len(e.faults) > 0 {
		return config{}, errors.New(strings.Join(e.faults, "; "))
	}
	return c, nil
}

// env reads variables and collects what is wrong with them.
type env struct {
	lookup func(string) (string, bool)
	faults []string
}

func (e *env) fault(name, format string, a ...any) {
	e.faults = append(e.faults, name+": "+fmt.Sprintf(format, a...))
}

func (e *env) address(name string) string {
	v, ok := e.lookup(name)
	if !ok {
		e.fault(name, "missing (want HOST:PORT)")
		return ""
	}
	_, port, err := net.SplitHostPort(v)
	if n, numErr := strconv.ParseUint(port, 10, 16); err != nil || numErr != nil || n == 0 {
		e.fault(name, "%q is no HOST:PORT", v)
	}
	return v
}

// oneOf reads one of the words; the first is the default.
func (e *env) oneOf(name string, words ...string) string {
	v, ok := e.lookup(name)
	if !ok {
		return words[0]
	}
	if slices.Contains(words, v) {
		return v
	}
	e.fault(name, "%q is none of %s", v, strings.Join(words, ", "))
	return words[0]
}

// count reads a whole number from 1 to most.
func (e *env) count(name string, usual, most int) int {
	v, ok := e.lookup(name)
	if !ok {
		return usual
	}
	n, err := strconv.Atoi(v)
	switch {
	case err != nil:
		e.fault(name, "%q is no whole number", v)
	case n < 1 || n > most:
		e.fault(name, "%d lies outside 1 to %d", n, most)
	}
	return n
}
