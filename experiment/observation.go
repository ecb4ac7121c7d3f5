package experiment

import "time"

// Phase is a part of a run.
type Phase string

// The phases of a run. Only PhaseMeasure is analysed.
const (
	PhaseReady   Phase = "ready"
	PhaseRamp    Phase = "ramp"
	PhaseWarmup  Phase = "warmup"
	PhaseMeasure Phase = "measure"
	PhaseDrain   Phase = "drain"
	PhaseDone    Phase = "done" // marks the end of drain; nothing is observed in it
)

// Observation is one value of a metric of a run, in its base unit.
type Observation struct {
	Metric string // throughput, latency_p99, app.cpu
	Phase  Phase
	Value  float64
	Unit   Unit
}

// SeriesPoint is one value of one slice. AtMS is relative to the window's start,
// negative before it.
type SeriesPoint struct {
	Service string // empty for request metrics
	Metric  string
	AtMS    int64
	Value   float64
}

// Counter names a cumulative count of a process.
type Counter string

// The counters. What a runner cannot tell is absent from Usage.
const (
	CounterCPU         Counter = "cpu_seconds"
	CounterThrottled   Counter = "throttled_seconds"
	CounterMemory      Counter = "memory_bytes" // a gauge
	CounterMemoryPeak  Counter = "memory_peak_bytes"
	CounterNetReceived Counter = "net_received_bytes"
	CounterNetSent     Counter = "net_sent_bytes"
	CounterOOMKills    Counter = "oom_kills"
	CounterRestarts    Counter = "restarts"
)

// Usage is a reading of the counters of a process and the time at which they were
// true, by the clock of whoever counted.
type Usage struct {
	At       time.Time
	Counters map[Counter]float64
}

// Exit is how a process ended.
type Exit struct {
	Code      int  // 128+signal if killed by one
	OOMKilled bool // by the kernel, for memory
	At        time.Time
}

// LogVolume is what a service wrote between two moments.
type LogVolume struct {
	Bytes int64
	Lines int64 // negative: not known
}
