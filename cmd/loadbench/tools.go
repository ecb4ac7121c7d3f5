//go:build linux

package main

import (
	"fmt"
	"strconv"
	"time"
)

// job is a load that one tool is to send.
type job struct {
	address     string // of the target, HOST:PORT
	connections int
	rate        int           // requests a second; 0: as many as the connections carry, one after another
	window      time.Duration // whole seconds
	dir         string        // for files, its own
}

func (j job) url() string { return "http://" + j.address + "/" }

func (j job) seconds() string { return strconv.Itoa(int(j.window.Seconds())) }

// each is the rate of one connection.
func (j job) each() string {
	return strconv.FormatFloat(float64(j.rate)/float64(j.connections), 'g', -1, 64)
}

// invocation is how a tool is called.
type invocation struct {
	args   []string
	env    []string // beside the caller's
	stdin  string
	output string // file that holds the result; empty: standard output
}

// tool is a load generator.
type tool struct {
	name   string
	source source
	loop   bool // it sends as fast as the responses come
	open   bool // it keeps a rate
	paced  bool // and is compared at given rates, not in the stall alone
	invoke func(job) (invocation, error)
	report []string // arguments that turn its output, given on standard input, into what its reader reads; nil: it is that
	path   string   // of its program; empty: there is none
}

// source says where a tool comes from.
type source struct {
	pkg    string // of Debian
	module string // MODULE@VERSION of Go
	slow   bool   // to build, which takes minutes: one on the PATH will do, and else it is built only when it is asked for
}

// ours is the name of the generator that is compared with all others.
const ours = "loadgen"

// peers gives all tools but ours, in the order in which they are shown.
func peers() []*tool {
	return []*tool{
		{name: "wrk", source: source{pkg: "wrk"}, loop: true, invoke: wrk},
		{name: "wrk2", open: true, paced: true, invoke: wrk2},
		{name: "h2load", source: source{pkg: "nghttp2-client"}, loop: true, open: true, invoke: h2load},
		{name: "fortio", source: source{module: "fortio.org/fortio@v1.63.0"}, loop: true, open: true, paced: true, invoke: fortio},
		{name: "bombardier", source: source{module: "github.com/codesenberg/bombardier@v1.2.6"}, loop: true, open: true, invoke: bombardier},
		{name: "hey", source: source{pkg: "hey"}, loop: true, open: true, invoke: hey},
		{name: "vegeta", source: source{module: "github.com/tsenart/vegeta/v12@v12.13.0"}, loop: true, open: true, paced: true, invoke: vegeta, report: []string{"report", "-type", "json"}},
		{name: "k6", source: source{module: "go.k6.io/k6/v2@v2.2.0", slow: true}, loop: true, open: true, paced: true, invoke: k6},
	}
}

func wrk(j job) (invocation, error) {
	return invocation{args: []string{"-t", "1", "-c", strconv.Itoa(j.connections), "-d", j.seconds() + "s", "--latency", j.url()}}, nil
}

func wrk2(j job) (invocation, error) {
	inv, err := wrk(j)
	inv.args = append([]string{"-R", strconv.Itoa(j.rate)}, inv.args...)
	return inv, err
}

func h2load(j job) (invocation, error) {
	args := []string{"--h1", "-t", "1", "-m", "1", "-c", strconv.Itoa(j.connections), "-D", j.seconds()}
	if j.rate > 0 {
		args = append(args, "--rps", j.each())
	}
	return invocation{args: append(args, j.url())}, nil
}

func fortio(j job) (invocation, error) {
	return invocation{args: []string{
		"load", "-c", strconv.Itoa(j.connections), "-qps", strconv.Itoa(j.rate), "-t", j.seconds() + "s",
		"-p", "50,90,95,99,99.9", "-r", "0.0001", "-json", "-", j.url(),
	}}, nil
}

func bombardier(j job) (invocation, error) {
	args := []string{"-c", strconv.Itoa(j.connections), "-d", j.seconds() + "s", "-l", "-p", "r", "-o", "json"}
	if j.rate > 0 {
		args = append(args, "-r", strconv.Itoa(j.rate))
	}
	return invocation{args: append(args, j.url())}, nil
}

func hey(j job) (invocation, error) {
	args := []string{"-c", strconv.Itoa(j.connections), "-z", j.seconds() + "s", "-cpus", "1"}
	if j.rate > 0 {
		args = append(args, "-q", j.each())
	}
	return invocation{args: append(args, j.url())}, nil
}

func vegeta(j job) (invocation, error) {
	args := []string{"attack", "-rate", strconv.Itoa(j.rate), "-duration", j.seconds() + "s"}
	if j.rate == 0 {
		c := strconv.Itoa(j.connections)
		args = append(args, "-workers", c, "-max-workers", c, "-connections", c)
	}
	return invocation{args: args, stdin: "GET " + j.url() + "\n"}, nil
}

// script is what k6 runs: one request an iteration.
const script = `import http from 'k6/http';
const rate = Number(__ENV.RATE), vus = Number(__ENV.VUS), duration = __ENV.WINDOW;
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['min', 'avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
  scenarios: { one: rate > 0
    ? { executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration, preAllocatedVUs: vus, maxVUs: vus }
    : { executor: 'constant-vus', vus, duration } },
};
export default function () { http.get(__ENV.URL); }
`

func k6(j job) (invocation, error) {
	file, err := save(j.dir, "script.js", script)
	if err != nil {
		return invocation{}, err
	}
	inv := invocation{output: j.dir + "/summary.json"}
	inv.args = []string{"run", "--quiet", "--no-usage-report", "--summary-export", inv.output}
	for _, one := range []string{
		"URL=" + j.url(), fmt.Sprintf("RATE=%d", j.rate), fmt.Sprintf("VUS=%d", j.connections), "WINDOW=" + j.seconds() + "s",
	} {
		inv.args = append(inv.args, "-e", one)
	}
	inv.args = append(inv.args, file)
	return inv, nil
}
