//go:build integration

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

const (
	smallMatrix = "testdata/small.yaml"
	smallCells  = 4
	smallRounds = 3
)

// killsVar is how often ceteris is killed at random moments over the process and the
// fake runner; over docker it is a fifth of that. The gate is content with less.
const killsVar = "CETERIS_KILLS"

// kills is how often it is killed, where the gate does it so many times.
func kills(t *testing.T, gate, share int) int {
	t.Helper()
	if n := fromEnv(t, killsVar, 0); n > 0 {
		return max(n/share, 1)
	}
	return gate
}

// TestKilled kills ceteris with SIGKILL where it hurts and at random moments, all on
// one database, and then lets it come to its end.
func TestKilled(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	program := program(t)
	for _, c := range []struct {
		runner string
		run    time.Duration // of the sweep, guessed until runs have been measured
		kills  int           // at random moments
	}{
		{experiment.RunnerProcess, time.Second, kills(t, 6, 1)},
		{experiment.RunnerDocker, 2500 * time.Millisecond, kills(t, 3, 5)},
	} {
		t.Run(c.runner, func(t *testing.T) {
			t.Parallel()
			k := newCampaign(t, program, c.runner)
			k.typical = c.run
			for _, m := range k.moments() {
				k.killAt(m)
			}
			k.killOften(c.kills, k.remaining)
			k.finish()
		})
	}
}

// TestKilledOverFake kills a ceteris whose runs take a tenth of a second, so that many kills
// strike where it keeps its books.
func TestKilledOverFake(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	program, err := exec.LookPath(fakeProgram)
	if err != nil {
		t.Fatal(err)
	}
	k := newCampaign(t, program, experiment.RunnerFake)
	k.site = nowhere{}
	n := kills(t, 12, 1)
	k.takes("fake.yaml", 3, n)
	k.killOften(n, func() time.Duration { return 500 * time.Millisecond })
	k.finish()
	for id, r := range k.known {
		own := fmt.Sprintf("measure throughput %.1f 1/s", fakeThroughput(id))
		if r.state == string(experiment.StateOK) && !strings.Contains(r.observed+"\n", own+"\n") {
			t.Errorf("run %d does not hold its own %q:\n%s", id, own, r.observed)
		}
	}
}

// campaign is a sweep that is killed again and again.
type campaign struct {
	*testing.T
	sandbox *sandbox
	site    site
	runner  string
	matrix  string
	db      string
	cells   int
	rounds  int
	typical time.Duration // a run
	random  *rand.Rand
	known   map[int64]record // every run that was ever seen to be over
	seen    map[string]thing // everything that was ever seen to be there
}

func newCampaign(t *testing.T, program, runner string) *campaign {
	s := newSandbox(t, program)
	matrix, err := filepath.Abs(smallMatrix)
	if err != nil {
		t.Fatal(err)
	}
	return &campaign{
		T: t, sandbox: s, site: siteOf(t, runner, s), runner: runner, matrix: matrix, db: filepath.Join(s.dir, "sweep.db"),
		cells: smallCells, rounds: smallRounds, random: rand.New(rand.NewPCG(9, 9)), known: map[int64]record{}, seen: map[string]thing{},
	}
}

// begin starts or continues the sweep.
func (k *campaign) begin(flags ...string) *child {
	args := []string{"--db", k.db, "run", "--runner", k.runner, "--rounds", strconv.Itoa(k.rounds), k.matrix}
	return k.sandbox.start(k.T, append(args, flags...)...)
}

// look gives what a child has started and is there now.
func (k *campaign) look(c *child) []thing {
	all := ofChild(k.site.things(k.T), c)
	for _, x := range all {
		k.seen[x.id] = x
	}
	return all
}

// moment is a point in the life of a sweep.
type moment struct {
	name string
	come func(c *child) bool // asked again and again
	then time.Duration       // from then to the kill
}

// moments are those at which a kill does most harm. They stand in the order in which
// they come first in the life of a database.
func (k *campaign) moments() []moment {
	upTo := func(d time.Duration) time.Duration { return time.Duration(k.random.Int64N(int64(d))) }
	return []moment{
		{"the database is made", func(*child) bool { return exists(k.db) }, 0},
		{"in Prepare, at once", func(c *child) bool { return strings.Contains(c.stderr(k.T), "building") }, 0},
		{"in Prepare, later", func(c *child) bool { return strings.Contains(c.stderr(k.T), "building") }, upTo(2 * time.Second)},
		{"an environment is opened", k.opened, 0},
		{"between launch and ready", func(c *child) bool { return of(k.look(c), "app") }, 0},
		{"the generator has started", func(c *child) bool { return of(k.look(c), experiment.GeneratorName) }, 0},
		{"in the middle of removal", k.removal(), 0},
		{"in the middle of removal, later", k.removal(), upTo(20 * time.Millisecond)},
		{"in EndRun, at its first write", k.endRun(), 0},
		{"in EndRun, later", k.endRun(), upTo(time.Millisecond)},
		{"in EndRun or after it", k.endRun(), upTo(5 * time.Millisecond)},
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// opened sees the first trace of an environment: a state file or a network.
func (k *campaign) opened(c *child) bool {
	if _, ok := k.site.(processSite); !ok {
		return len(k.look(c)) > 0
	}
	states, err := filepath.Glob(filepath.Join(k.sandbox.dir, "state", "ceteris", "owners", fmt.Sprintf("*%%2F%d%%2F*", c.pid()), "*.json"))
	return err == nil && len(states) > 0
}

// removal sees that the first service is gone besides the generator, which ends by
// itself.
func (k *campaign) removal() func(*child) bool {
	var services []thing
	return func(c *child) bool {
		if services == nil {
			if all := k.look(c); of(all, experiment.GeneratorName) {
				services = slices.DeleteFunc(all, func(x thing) bool { return x.service == "" || x.service == experiment.GeneratorName })
			}
			return false
		}
		return len(k.site.there(k.T, services)) < len(services)
	}
}

// endRun sees the first write to the database after the load began: nothing is
// written while a run is under way. It takes less than the rest of a timer, so this
// does not wait but spins.
func (k *campaign) endRun() func(*child) bool {
	var before os.FileInfo
	return func(c *child) bool {
		wal, err := os.Stat(k.db + "-wal")
		if err != nil {
			return false
		}
		if before == nil {
			if of(k.look(c), experiment.GeneratorName) {
				before = wal
			}
			return false
		}
		for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
			wal, err := os.Stat(k.db + "-wal")
			if err != nil || wal.ModTime() != before.ModTime() || wal.Size() != before.Size() {
				return true
			}
		}
		return false
	}
}

// killAt kills at a moment.
func (k *campaign) killAt(m moment) {
	k.Helper()
	c := k.begin()
	if !c.saw(k.T, m.name, func() bool { return m.come(c) }) {
		k.Fatalf("%s: ceteris ended before, with %d; it said:\n%s", m.name, c.cmd.ProcessState.ExitCode(), c.stderr(k.T))
	}
	time.Sleep(m.then)
	k.kill(c, m.name)
}

// killOften kills at random moments, each within some time.
func (k *campaign) killOften(kills int, within func() time.Duration) {
	k.Helper()
	for kills > 0 {
		if k.killWithin(within()) {
			kills--
		}
	}
}

// killWithin kills at a random moment from 0.2 s on, when ceteris has begun, and
// reports whether it was still at work. If not, the sweep is made longer.
func (k *campaign) killWithin(span time.Duration) bool {
	k.Helper()
	const first = 200 * time.Millisecond
	at := first + time.Duration(k.random.Int64N(int64(span)))
	c := k.begin()
	select {
	case <-c.ended:
	case <-time.After(at):
		k.know(c)
		if c.kill() {
			k.struck(c, fmt.Sprint("after ", at.Round(time.Millisecond)))
			return true
		}
	}
	if code := c.cmd.ProcessState.ExitCode(); code != exitOK && code != exitEarly {
		k.Fatalf("exit code %d; ceteris said:\n%s", code, c.stderr(k.T))
	}
	k.Logf("the sweep was over before %v", at)
	k.check(c)
	k.rounds++
	return false
}

// remaining is the time that the sweep still needs, by its runs so far.
func (k *campaign) remaining() time.Duration {
	var took time.Duration
	var counted, whole int
	perRound := map[int]int{}
	for _, r := range k.known {
		if r.state == string(experiment.StateOK) {
			took += r.took
			counted++
			perRound[r.round]++
		}
	}
	for _, n := range perRound {
		if n == k.cells {
			whole++
		}
	}
	if counted > 0 {
		k.typical = took / time.Duration(counted)
	}
	return max(k.typical*time.Duration((k.rounds-whole)*k.cells), time.Second)
}

func (k *campaign) kill(c *child, when string) {
	k.Helper()
	if !c.kill() {
		k.Fatalf("%s: ceteris had ended; it said:\n%s", when, c.stderr(k.T))
	}
	k.struck(c, when)
}

// struck looks at what a kill has left.
func (k *campaign) struck(c *child, when string) {
	k.Helper()
	left := k.look(c)
	running, over := k.check(c)
	k.Logf("killed %-32s %d services and networks left, %d runs under way, %d over", when+":", len(left), running, over)
}

// progressLine is what ceteris says when a run is stored.
var progressLine = regexp.MustCompile(`(?m)^\[\d+/\d+\] round `)

// check compares what a second reader sees with all that was seen before, and with
// what ceteris had said.
func (k *campaign) check(c *child) (running, over int) {
	k.Helper()
	said := len(progressLine.FindAllString(c.stderr(k.T), -1))
	for _, r := range k.know(c) {
		switch {
		case r.state == string(experiment.StateRunning):
			running++
		case r.owner.PID == c.pid():
			over++
		}
	}
	if over < said {
		k.Errorf("ceteris said that %d runs were over, the database knows %d", said, over)
	}
	if running > 1 {
		k.Errorf("%d runs are under way", running)
	}
	return running, over
}

// record is a run in the database.
type record struct {
	owner         experiment.Owner // of its invocation
	cell          string
	round         int
	state, reason string
	took          time.Duration
	observed      string // all observations
	stored        string // how much else was stored
}

// know reads the database as a second reader, and holds it to all that was known.
func (k *campaign) know(c *child) map[int64]record {
	k.Helper()
	now, err := k.records()
	if err != nil && len(k.known) > 0 {
		k.Fatalf("read the database: %v", err)
	}
	for id, was := range k.known {
		is, ok := now[id]
		if !ok {
			k.Errorf("run %d, which was %s, is gone", id, was.state)
			continue
		}
		earlier := strings.TrimSuffix(was.state+": "+was.reason, ": ")
		superseded := is.state == string(experiment.StateSuperseded) && is.reason == earlier
		if (is.state != was.state || is.reason != was.reason) && !superseded {
			k.Errorf("run %d was %s (%s) and is %s (%s)", id, was.state, was.reason, is.state, is.reason)
		}
		if is.observed != was.observed || is.stored != was.stored {
			k.Errorf("run %d (%s) has other observations than before:\nbefore: %s %s\nnow:    %s %s", id, is.state, was.stored, was.observed, is.stored, is.observed)
		}
	}
	for id, r := range now {
		if r.state != string(experiment.StatePending) && r.state != string(experiment.StateRunning) {
			k.known[id] = r
		}
		if r.state == string(experiment.StateOK) && r.observed == "" {
			k.Errorf("run %d is ok and has no observations", id)
		}
	}
	return now
}

func (k *campaign) records() (map[int64]record, error) {
	k.Helper()
	all := map[int64]record{}
	err := k.query(`select r.id, coalesce(i.owner, ''), c.key, r.round, r.state, r.reason, coalesce(r.ended - r.began, 0),
		(select coalesce(group_concat(line, char(10)), '') from
			(select phase || ' ' || metric || ' ' || value || ' ' || unit as line from observations where run = r.id order by line)),
		(select count(*) from series where run = r.id) || ' points, ' || (select count(*) from histograms where run = r.id) || ' histograms, ' ||
		(select count(*) from artifacts where run = r.id) || ' artifacts, ' || (select count(*) from findings where run = r.id) || ' findings'
		from runs r join cells c on c.id = r.cell left join invocations i on i.id = r.invocation`, func(row []any) {
		owner, _ := experiment.ParseOwner(row[1].(string)) // none: it has not begun
		all[row[0].(int64)] = record{
			owner: owner, cell: row[2].(string), round: int(row[3].(int64)), state: row[4].(string), reason: row[5].(string),
			took: time.Duration(row[6].(int64)), observed: row[7].(string), stored: row[8].(string),
		}
	})
	return all, err
}

func (k *campaign) query(text string, each func(row []any)) error {
	k.Helper()
	r, err := db.OpenReadOnly(k.Context(), k.db)
	if err != nil {
		return err
	}
	defer func() {
		if err := r.Close(); err != nil {
			k.Errorf("close the reader: %v", err)
		}
	}()
	_, rows, err := r.Query(k.Context(), text)
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		each(row)
	}
	return nil
}

// finish lets the sweep come to its end and looks at what it has left: in the
// database everything, elsewhere nothing.
func (k *campaign) finish() {
	k.Helper()
	c := k.begin()
	c.saw(k.T, "the end", func() bool { k.look(c); return c.over() })
	code := c.wait(k.T, patience)
	now := k.know(c)
	places, want := map[string]int{}, exitOK
	for id, r := range now {
		switch experiment.RunState(r.state) {
		case experiment.StateInvalid:
			want = exitEarly
			places[fmt.Sprintf("%s, round %d", r.cell, r.round)]++
		case experiment.StateOK, experiment.StateFailedSubject, experiment.StateSkipped:
			places[fmt.Sprintf("%s, round %d", r.cell, r.round)]++
		case experiment.StatePending, experiment.StateRunning:
			k.Errorf("run %d is %s", id, r.state)
		default: // it counts for nothing
		}
	}
	if code != want {
		k.Errorf("exit code %d, want %d; ceteris said:\n%s", code, want, c.stderr(k.T))
	}
	for place, n := range places {
		if n != 1 {
			k.Errorf("%d runs count for %s", n, place)
		}
	}
	if len(places) != k.cells*k.rounds {
		k.Errorf("runs count for %d cells and rounds, want %d; ceteris said:\n%s", len(places), k.cells*k.rounds, c.stderr(k.T))
	}
	k.Logf("%d runs in all, %d of them count", len(now), len(places))
	k.checkIntegrity()
	k.checkNothingLeft()
	k.checkFiles()
}

// checkFiles looks for what stays beside the database or among temporary files.
func (k *campaign) checkFiles() {
	k.Helper()
	beside, err1 := filepath.Glob(k.db + "*")
	temporary, err2 := filepath.Glob(filepath.Join(k.sandbox.dir, "tmp", "*"))
	if err := errors.Join(err1, err2); err != nil {
		k.Fatal(err)
	}
	for _, path := range slices.Concat(beside, temporary) {
		if path != k.db && path != k.db+".log" {
			k.Errorf("left: %s", path)
		}
	}
}

func (k *campaign) checkIntegrity() {
	k.Helper()
	var said []string
	if err := k.query(`pragma integrity_check`, func(row []any) { said = append(said, fmt.Sprint(row[0])) }); err != nil {
		k.Fatalf("integrity check: %v", err)
	}
	if !slices.Equal(said, []string{"ok"}) {
		k.Errorf("integrity check: %q", said)
	}
}

// checkNothingLeft looks for anything that any ceteris on this database started.
func (k *campaign) checkNothingLeft() {
	k.Helper()
	var id string
	if err := k.query(`select id from identity`, func(row []any) { id = row[0].(string) }); err != nil {
		k.Fatal(err)
	}
	for _, x := range ofDatabase(k.site.things(k.T), id) {
		k.Errorf("left: %s %s %s %s", x.kind, x.id, x.service, x.state)
	}
	for _, x := range k.site.traces(k.T, slices.Collect(maps.Values(k.seen))) {
		k.Errorf("left: %s", x)
	}
	if _, none := k.site.(nowhere); len(k.seen) == 0 && !none {
		k.Error("nothing was ever seen: this test looks at the wrong place")
	}
}
