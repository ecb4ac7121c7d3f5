package reader

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// pgbenchTruth is what the server counted in a run: transactions that were committed and
// rolled back, with those of pgbench itself and of its connections.
type pgbenchTruth struct {
	Run       string   `json:"run"`
	Files     []string `json:"files"`
	Committed int64    `json:"xact_commit"`
	Back      int64    `json:"xact_rollback"`
	Sessions  int64    `json:"sessions"`
}

func pgbenchTruths(t *testing.T) map[string]pgbenchTruth {
	t.Helper()
	var runs []pgbenchTruth
	if err := json.Unmarshal([]byte(reference(t, "pgbench/ground-truth.json")), &runs); err != nil {
		t.Fatal(err)
	}
	out := map[string]pgbenchTruth{}
	for _, r := range runs {
		for _, file := range r.Files {
			out[file] = r
		}
	}
	return out
}

func TestPgbenchAgainstServer(t *testing.T) {
	truths := pgbenchTruths(t)
	for _, c := range []struct {
		file        string
		ok, failed  int64
		dropped     int64
		retried     int64 // tries that were rolled back beside failures
		values      map[string]float64
		unknown     map[string]string
		severity    experiment.Severity
		note        string
		connections bool // each transaction has one
	}{
		{
			file: "closed.txt", ok: 400,
			values:  map[string]float64{"throughput": 5540.089472, "requests_done": 400, "error_rate": 0},
			unknown: map[string]string{"latency_p50": "(-l)", "offered": "closed loop"},
		},
		{
			file: "closed.log", ok: 400,
			values:   map[string]float64{"latency_max": 3.073e-3, "service_time_max": 3.073e-3, "latency_count": 400, "in_flight": 3.6577},
			unknown:  map[string]string{"lateness_p99": "no schedule", "dropped": "not paced"},
			severity: experiment.SeverityNote, note: "clients 0 to 3",
		},
		{file: "progress.stdout.txt", ok: 272679, values: map[string]float64{"throughput": 90893.575659}},
		{
			file: "rate.txt", ok: 183,
			unknown:  map[string]string{"offered": "had not begun", "lateness_p99": "mean and the maximum", "dropped": "-L"},
			severity: experiment.SeverityNote, note: "schedule lag avg 66.843 (max 172.336) ms",
		},
		{
			file: "rate.log", ok: 183,
			values:   map[string]float64{"latency_p50": 0.063903, "service_time_p50": 0.020255, "dropped": 0},
			unknown:  map[string]string{"offered": "had not begun"},
			severity: experiment.SeverityNote, note: "taken for the schedule lag",
		},
		{file: "skip.txt", ok: 189, dropped: 94, values: map[string]float64{"dropped": 94.0 / 283, "throughput": 93.977766}},
		{file: "skip.log", ok: 189, dropped: 94, values: map[string]float64{"dropped": 94.0 / 283, "latency_count": 189}},
		{file: "failed.txt", ok: 85, failed: 115, values: map[string]float64{"error_rate": 0.575, "sent": 200 / (85 / 3536.950732)}},
		{
			file: "failed.log", ok: 85, failed: 115, values: map[string]float64{"error_rate": 0.575, "latency_count": 85},
			unknown: map[string]string{"failed_latency_p50": "how long they took", "in_flight": "how long they took"},
		},
		{file: "detailed.txt", ok: 154, failed: 46, retried: 110, severity: experiment.SeverityNote, note: "tried again 110 times"},
		{
			file: "detailed.log", ok: 154, failed: 46, retried: 110,
			severity: experiment.SeverityNote, note: "taken for retries",
		},
		{file: "retries.txt", ok: 200, retried: 378, severity: experiment.SeverityNote, note: "tried again 378 times"},
		{
			file: "retries.log", ok: 200, retried: 378, values: map[string]float64{"latency_count": 200},
			severity: experiment.SeverityNote, note: "(median 0, largest 14)",
		},
		{
			// Two clients met a division by zero, which is no failure to pgbench.
			file: "aborted.stdout.txt", ok: 314, retried: 2, values: map[string]float64{"error_rate": 0},
			severity: experiment.SeverityWarn, note: "86 of 400 transactions were never done",
		},
		{
			file: "scripts.txt", ok: 200,
			values: map[string]float64{
				"throughput{one_sql}": 25877.699028, "requests_done{one_sql}": 157, "requests_done{builtin_select_only}": 43, "error_rate{one_sql}": 0,
			},
		},
		{
			file: "scripts.log", ok: 200,
			values: map[string]float64{"requests_done{script_0}": 157, "requests_done{script_1}": 43},
		},
		{
			file: "reconnect.txt", ok: 40, connections: true, values: map[string]float64{"connects": 407.842817},
			severity: experiment.SeverityNote, note: "opens a connection",
		},
		{file: "aggregate.txt", ok: 141645},
		{file: "sampled.txt", ok: 400},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := truths[c.file]
			out := mustRead(t, pgbench(), reference(t, "pgbench/"+c.file), experiment.Span{})
			wellFormed(t, out)
			wantDone(t, out, c.ok, c.failed)
			if out.Total.Dropped != c.dropped {
				t.Errorf("%d dropped", out.Total.Dropped)
			}
			// Each session commits one of its own beside, and a run a few.
			own := truth.Committed - out.Total.OK
			if own < 2 || own > 3+truth.Sessions || truth.Back != c.failed+c.retried {
				t.Errorf("%+v, and the server counted %+v", out.Total, truth)
			}
			if c.connections && truth.Sessions <= c.ok {
				t.Errorf("%d sessions", truth.Sessions)
			}
			wantValues(t, out, c.values)
			for metric, why := range c.unknown {
				wantUnknown(t, out, metric, why)
			}
			if c.note != "" {
				wantNote(t, out, c.severity, c.note)
			}
		})
	}
}

func TestPgbenchLogAgreesWithText(t *testing.T) {
	for _, run := range []string{"closed", "rate", "skip", "failed", "detailed", "retries", "scripts"} {
		text := mustRead(t, pgbench(), reference(t, "pgbench/"+run+".txt"), experiment.Span{})
		log := mustRead(t, pgbench(), reference(t, "pgbench/"+run+".log"), experiment.Span{})
		for _, metric := range []string{"throughput", "sent"} {
			a, _ := observed(text, metric)
			b, _ := observed(log, metric)
			if a < b*0.98 || a > b*1.02 { // the text leaves out the time to connect, the log begins with the first transaction
				t.Errorf("%s: %s is %g in the text, %g in the log", run, metric, a, b)
			}
		}
	}
}

func TestPgbenchSample(t *testing.T) {
	out := mustRead(t, pgbench(), reference(t, "pgbench/sampled.log"), experiment.Span{})
	wellFormed(t, out)
	wantNote(t, out, experiment.SeverityWarn, "the log is a sample")
	for _, metric := range []string{"throughput", "sent", "offered", "requests_done", "error_rate", "in_flight"} {
		wantUnknown(t, out, metric, "sample")
	}
	wantValues(t, out, map[string]float64{"latency_count": 75})
	if len(out.Series) > 0 || out.Window != 0 {
		t.Error("a sample has slices")
	}
}

func TestPgbenchLogCutToWindow(t *testing.T) {
	begin := time.Unix(1796083525, 0)
	out := mustRead(t, pgbench(), reference(t, "pgbench/rate.log"), experiment.Span{Begin: begin, End: begin.Add(time.Second)})
	if out.Window != time.Second || !out.Begin.Equal(begin) || out.Total.Offered == 0 || out.Total.Offered == 183 {
		t.Errorf("%s from %s: %+v", out.Window, out.Begin, out.Total)
	}
}

// A transaction that was due at 10 s waited 2 s and took 1 s; one was skipped.
func TestPgbenchLag(t *testing.T) {
	out := mustRead(t, pgbench(), "0 1 3000000 0 1796083513 0 2000000\n0 2 skipped 0 1796083513 5 0\n", experiment.Span{})
	wantValues(t, out, map[string]float64{"latency_max": 3, "service_time_max": 1, "lateness_p99": 2, "dropped": 0.5})
	if want := time.Unix(1796083510, 0); !out.Begin.Equal(want) {
		t.Errorf("begins at %s", out.Begin)
	}
	var sent []int64
	for _, p := range out.Series {
		if p.Metric == "sent" && p.Value > 0 {
			sent = append(sent, p.AtMS)
		}
	}
	if len(sent) != 1 || sent[0] < 1900 || sent[0] > 2000 { // the slice of the real send
		t.Errorf("sent at %d ms", sent)
	}
}

func TestPgbenchOldText(t *testing.T) {
	text := `starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 1
number of transactions per client: 100
number of transactions actually processed: 400/400
latency average = 0.722 ms
tps = 5000.000000 (including connections establishing)
tps = 5500.000000 (excluding connections establishing)
`
	out := mustRead(t, pgbench(), text, experiment.Span{})
	wantValues(t, out, map[string]float64{"throughput": 5500})
	wantUnknown(t, out, "error_rate", "before version 15")
}

func TestPgbenchFailuresAlone(t *testing.T) {
	text := strings.NewReplacer("85/200", "0", "number of transactions per client: 50", "duration: 2 s", "115 (57.500%)", "115 (100.000%)", "tps = 3536.950732", "tps = 0.000000").Replace(reference(t, "pgbench/failed.txt"))
	out := mustRead(t, pgbench(), text, experiment.Span{})
	wellFormed(t, out)
	wantValues(t, out, map[string]float64{"throughput": 0, "error_rate": 1, "sent": 57.5})
	_, err := pgbench().ReadOutput(strings.NewReader(strings.ReplaceAll(text, "duration: 2 s\n", "")), experiment.Span{})
	wantError(t, err, false, "at 0 tps")
}

// Retries are hardly ever mistaken for a lag, nor a lag for retries: with both columns
// there is no doubt.
func TestPgbenchLagAndRetries(t *testing.T) {
	out := mustRead(t, pgbench(), "0 1 3000000 0 1796083513 0 2000000 4\n0 2 failed 0 1796083513 5 7 4\n", experiment.Span{})
	wellFormed(t, out)
	wantValues(t, out, map[string]float64{"service_time_max": 1, "error_rate": 0.5})
	out = mustRead(t, pgbench(), "0 1 failed 0 1796083513 0 20\n0 2 failed 0 1796083514 5 20\n", experiment.Span{})
	wellFormed(t, out)
	wantUnknown(t, out, "latency_p50", "no such request")
}

func TestPgbenchAbortedWithErrorsInText(t *testing.T) {
	text := reference(t, "pgbench/aborted.stderr.txt") + strings.ReplaceAll(reference(t, "pgbench/aborted.stdout.txt"), "314/400", "314")
	wantNote(t, mustRead(t, pgbench(), text, experiment.Span{}), experiment.SeverityWarn, "2 clients ended at an error")
}

func TestPgbenchRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		cut              bool
	}{
		{"progress alone", reference(t, "pgbench/progress.stderr.txt"), "progress at 3.0 s, with 89841.8 tps", true},
		{"errors alone", reference(t, "pgbench/aborted.stderr.txt"), "is wanted", false},
		{"aggregated", reference(t, "pgbench/aggregate.log"), "aggregated log (--aggregate-interval)", false},
		{"cut log", "0 1 20 0 1796083513 5\n0 2 20 0 17960", "cut off", true},
		{"columns that come", "0 1 20 0 1796083513 5\n0 2 20 0 1796083513 50 1\n", "line 2, \"0 2 20 0 1796083513 50 1\": 7 columns, and 6", false},
		{"no number", "0 1 20 0 1796083513 5\n0 2 20 0 x 50\n", "line 2, \"0 2 20 0 x 50\": column 5", false},
		{"no time", "0 1 20 0 1796083513 5\n0 2 20 0 99999999999999 50\n", "no time", false},
		{"no transaction", strings.NewReplacer("400/400", "0/400").Replace(reference(t, "pgbench/closed.txt")), "no transaction", true},
		{"another tool", "Running 4s test @ http://a/\n", "is wanted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := pgbench().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
	cutAnywhere(t, pgbench(), "pgbench/scripts.txt", "connection time)")
}

func FuzzPgbench(f *testing.F) { fuzzTool(f, pgbench()) }
