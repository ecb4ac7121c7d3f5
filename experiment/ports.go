package experiment

import (
	"context"
	"io"
	"time"
)

// Vantage is from where an address is to be reached.
type Vantage int

// The vantages: the conductor's own process, or another service of the run.
const (
	FromConductor Vantage = iota
	FromService
)

// Host is the machine that runs the services, as far as the runner can tell.
type Host struct {
	Name     string   `json:"name"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"` // as GOARCH
	Kernel   string   `json:"kernel"`
	CPU      string   `json:"cpu"` // model
	Cores    CoreSet  `json:"cores"`
	Memory   int64    `json:"memory"` // bytes
	Boot     string   `json:"boot"`   // boot id
	Engine   string   `json:"engine"` // name and version; empty for process
	Local    bool     `json:"local"`  // the engine runs on this host's kernel
	Enforces Enforces `json:"enforces"`
	StateDir string   `json:"state_dir,omitempty"` // where runs write, if that is on this machine
}

// Enforces says which limits a runner puts into force here.
type Enforces struct {
	Cores, CPUs, Memory, PIDs bool
}

// Runner starts environments. Implementations are safe for use by one sweep at a
// time; many runners may share a host.
type Runner interface {
	Name() string
	// Check asks whether the runner can work here. ErrNoRuntime, ErrCannotRun.
	Check(ctx context.Context) (Host, error)
	// Prepare builds or pulls, once a sweep, what the services run.
	Prepare(ctx context.Context, all []Service) (Images, error)
	// Open makes an empty environment: a network or a range of ports. One beside an
	// error is what could not be removed after it, and is to be closed.
	Open(ctx context.Context, key RunKey) (Env, error)
}

// Cleaner is a Runner that finds and removes what dead owners left.
type Cleaner interface {
	Leftovers(ctx context.Context) ([]Leftover, error)
	Remove(ctx context.Context, l Leftover) error
}

// Incarnate is a Runner whose engine may end and begin anew while ceteris goes on: its
// services end with it, as if each had ended by itself.
type Incarnate interface {
	// Incarnation names the engine as long as it lives, and never again; empty where
	// that cannot be told.
	Incarnation(ctx context.Context) (string, error)
}

// Leftover is something that was started under ceteris' labels.
type Leftover struct {
	Kind  string // container, network, volume, process, directory
	ID    string
	Name  string
	Owner string
	Fate  OwnerFate
}

// Env is the environment of one run.
type Env interface {
	// Launch starts a service and waits until it is ready. After an error nothing
	// of it is left. A subject's own failure (never ready, exited) wraps
	// ErrNotReady or ErrExited; anything else is the infrastructure's.
	Launch(ctx context.Context, s Service) (Proc, error)
	// Close removes everything of the run, volumes too. It may be called again,
	// and after a partial start.
	Close(ctx context.Context) error
}

// Proc is a launched service.
type Proc interface {
	// Addr gives HOST:PORT for a declared port.
	Addr(port int, from Vantage) (string, error)
	// Logs gives standard output and error, interleaved, from the start; follow is for the generator only
	// and gives standard output alone.
	Logs(ctx context.Context, follow bool) (io.ReadCloser, error)
	Usage(ctx context.Context) (Usage, error)
	// Wait blocks until the service ends by itself or is stopped.
	Wait(ctx context.Context) (Exit, error)
	Stop(ctx context.Context) error
}

// Execer is a Proc in which steps can run.
type Execer interface {
	// Exec runs a command to its end. One that is not there, or is no program, wraps
	// ErrNoCommand.
	Exec(ctx context.Context, argv []string) (ExecResult, error)
	ReadFile(ctx context.Context, path string) ([]byte, error)
}

// Resolver is a Proc that knows what ${self:PORT} and ${file:PATH} stand for in its
// service: steps that are asked after its launch hold them still.
type Resolver interface {
	Resolve(ref Ref) (string, bool)
}

// VolumeKeeper is an Env that can copy the volumes of a service, as a tar stream with
// one directory for each volume, named by it.
type VolumeKeeper interface {
	// SaveVolumes writes the volumes of a launched service that was stopped.
	SaveVolumes(ctx context.Context, service string, w io.Writer) error
	// RestoreVolumes fills the volumes of a service that is to be launched. A service
	// of the same name that was stopped makes room for it.
	RestoreVolumes(ctx context.Context, s Service, r io.Reader) error
}

// SnapshotWriter writes a snapshot, which is there for others once it is committed,
// whole. Close drops one that was not.
type SnapshotWriter interface {
	io.WriteCloser
	Commit() error
}

// ExecResult is the end of a command inside a service.
type ExecResult struct {
	Code   int
	Output []byte // standard output and error
}

// LogMeter is a Proc that can count what it wrote between two moments, both
// earlier than the call. It is asked after the window, never under load.
type LogMeter interface {
	LogVolume(ctx context.Context, from, to time.Time) (LogVolume, error)
}

// ProbeTarget is what a probe looks at.
type ProbeTarget struct {
	Runner string
	Host   Host // runs the services
	Procs  map[string]Proc
	Pages  []ScrapePage
}

// ScrapePage is a page of a service to be read under load. References are resolved.
type ScrapePage struct {
	Service string
	Addrs   []string // HOST:PORT as reached by the conductor, of each replica
	Path    string
	Scrape  Scrape
}

// Probe measures something beside the services: host, engine. One that sees only
// the machine it is on observes nothing where Host is another.
type Probe interface {
	Start(ctx context.Context, t ProbeTarget) (Sampling, error)
}

// Sampling is a probe at work. Mark is called when a phase begins.
type Sampling interface {
	Mark(p Phase) error
	Stop(ctx context.Context) ([]Observation, []SeriesPoint, error)
}

// LoadReader reads the output of a generator up to its end. on is called for
// each event as it arrives. An incomplete result wraps ErrIncomplete; a failure of r
// itself wraps r's error instead. What was read is returned beside both.
type LoadReader interface {
	Read(ctx context.Context, r io.Reader, on func(LoadEvent)) (LoadResult, error)
}

// OutputReader reads what a load generator of others wrote. Implementations are pure.
type OutputReader interface {
	// ReadOutput reads r to its end. Where the output tells of each request, those that
	// began outside the span are left out, but for responses inside it. One that was cut off wraps ErrIncomplete, and
	// what was read of it is returned beside; one that is not of this tool is another
	// error, which names what was found and what is read.
	ReadOutput(r io.Reader, span Span) (LoadResult, error)
}

// Judge looks for reasons to distrust. Implementations are pure.
type Judge interface {
	JudgeRun(o Outcome, s Settings) []Finding
	JudgeSweep(s Sweep, r Results, set Settings) []Finding
}

// Analyst computes intervals and comparisons. Implementations are pure.
type Analyst interface {
	Analyse(s Sweep, set Settings) (Results, error)
}

// SweepSpec is what begins or continues a sweep.
type SweepSpec struct {
	Matrix     *Matrix // resolved for its runner
	Hash       string
	Cells      []Cell
	Ladders    []Ladder
	Rounds     int
	New        bool  // start another sweep of the same hash
	PeelParent int64 // the sweep before it in a peel; 0: none. A sweep is continued only under the same one
	Placement  Placement
	Host       Host
	Images     Images
	Invocation Invocation
}

// Invocation is one call of run.
type Invocation struct {
	ID        int64
	Sweep     int64
	Began     time.Time
	Ended     time.Time
	Owner     string
	Command   []string
	Version   string // of ceteris
	ShareHost bool
	Outcome   string // empty while it runs; done, drained, aborted, failed: REASON
}

// SweepHead names a sweep that was begun or found.
type SweepHead struct {
	ID, Invocation int64
	Hash           string
	Serial         int
	Rounds         int // planned, the larger of stored and asked
	Continued      bool
	Images         Images // of the invocation before; nil for the first
}

// Reschedule is how the plan of a sweep is mended before an invocation goes on.
type Reschedule struct {
	Interrupted []int64   // runs that were under way when their invocation died
	Salvaged    []Outcome // of Interrupted: series and artifacts that outlived the invocation
	Superseded  []Run     // settled runs of rounds that are run again; Reason holds the new reason
	Drop        []int64   // pending rows that are planned anew
	Add         []Run     // pending runs
}

// Store keeps everything. Implementations are safe for one writer; readers never
// block it.
type Store interface {
	BeginSweep(ctx context.Context, s SweepSpec) (SweepHead, error)
	// Runs gives all runs of a sweep, in order of their ids.
	Runs(ctx context.Context, sweep int64) ([]Run, error)
	// Reschedule applies the changes in one transaction.
	Reschedule(ctx context.Context, sweep int64, r Reschedule) error
	// Pending gives the runs that are planned and have not begun, in order.
	Pending(ctx context.Context, sweep int64) ([]Run, error)
	// BeginRun marks a pending run as running and gives it its place in the
	// executed order.
	BeginRun(ctx context.Context, r Run) (Run, error)
	// EndRun stores a run and all that belongs to it in one transaction.
	EndRun(ctx context.Context, o Outcome, findings []Finding) error
	LoadSweep(ctx context.Context, sweep int64) (Sweep, error)
	// ReplaceResults replaces all results of a sweep, its findings among them, in one
	// transaction.
	ReplaceResults(ctx context.Context, sweep int64, r Results) error
	// FinishRounds makes a sweep that met its rule one of so many rounds, and drops the
	// pending runs of later ones. Continued by the same rule, judged by the same settings
	// and without another number of rounds, it stays so.
	FinishRounds(ctx context.Context, sweep int64, rounds int) error
	EndInvocation(ctx context.Context, i Invocation) error
	// Checkpoint folds the write-ahead log into the file.
	Checkpoint(ctx context.Context) error
}

// Missing names the limits that are set and not put into force.
func (e Enforces) Missing(l Limits) []string {
	var out []string
	if l.CPUs > 0 && !e.CPUs {
		out = append(out, "limits.cpus")
	}
	if l.Memory > 0 && !e.Memory {
		out = append(out, "limits.memory")
	}
	if l.PIDs > 0 && !e.PIDs {
		out = append(out, "limits.pids")
	}
	return out
}
