package report

import (
	"maps"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// The names in these types are stable: programs read them.

type importsJSON struct {
	Sweep *importedSweepJSON `json:"sweep"` // null after a dry run
	Files []importedFileJSON `json:"files"`
}

type importedSweepJSON struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Rounds int    `json:"rounds"`
	Cells  int    `json:"cells"`
}

type importedFileJSON struct {
	File       string                 `json:"file"`
	SHA256     string                 `json:"sha256"`
	Size       int64                  `json:"size"` // bytes
	Reader     string                 `json:"reader"`
	Detected   bool                   `json:"detected"` // the reader was not named
	Tool       string                 `json:"tool"`
	Format     string                 `json:"format"`
	Complete   bool                   `json:"complete"`
	Incomplete string                 `json:"incomplete"` // why it is not
	Began      *string                `json:"began"`      // UTC, RFC 3339; null: not told
	Window     *float64               `json:"window_seconds"`
	Metrics    []importedMetricJSON   `json:"metrics"`
	Unknown    []experiment.Unknown   `json:"unknown"`
	Notes      []experiment.LoadNote  `json:"notes"`
	Statuses   map[string]int64       `json:"statuses"`
	Errors     map[string]int64       `json:"errors"`
	Requests   []importedRequestsJSON `json:"requests"` // of each name, where there are several
	Run        *importedRunJSON       `json:"run"`      // null after a dry run
}

type importedMetricJSON struct {
	Metric string   `json:"metric"`
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit"`
}

type importedRequestsJSON struct {
	Name   string `json:"name"`
	OK     int64  `json:"ok"`
	Failed int64  `json:"failed"`
}

type importedRunJSON struct {
	ID     int64  `json:"id"`
	Cell   string `json:"cell"`
	Round  int    `json:"round"`
	State  string `json:"state"`
	Reason string `json:"reason"`
}

func (v ImportView) json() importsJSON {
	out := importsJSON{Files: []importedFileJSON{}}
	if s := v.Sweep; s.ID != 0 {
		out.Sweep = &importedSweepJSON{ID: s.ID, Name: s.Name, Hash: s.Hash, Rounds: s.Rounds, Cells: len(s.Cells)}
	}
	for _, in := range v.Files {
		out.Files = append(out.Files, in.json())
	}
	return out
}

func (in ImportedFile) json() importedFileJSON {
	r := in.Result
	out := importedFileJSON{
		File: in.File, SHA256: in.SHA256, Size: in.Size, Reader: in.Reader, Detected: in.Detected, Tool: r.Tool, Format: r.Format,
		Complete: in.Incomplete == "", Incomplete: in.Incomplete,
		Metrics: []importedMetricJSON{}, Unknown: append([]experiment.Unknown{}, r.Unknown...), Notes: append([]experiment.LoadNote{}, r.Notes...),
		Statuses: r.Statuses, Errors: r.Errors, Requests: []importedRequestsJSON{},
	}
	if !r.Begin.IsZero() {
		out.Began = new(stamp(r.Begin))
	}
	if r.Window > 0 {
		out.Window = number64(r.Window.Seconds())
	}
	for _, o := range in.measured() {
		out.Metrics = append(out.Metrics, importedMetricJSON{o.Metric, number64(o.Value), string(o.Unit)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		out.Requests = append(out.Requests, importedRequestsJSON{name, r.Requests[name].OK, r.Requests[name].Failed})
	}
	if s := in.Stored; s != nil {
		out.Run = &importedRunJSON{s.Run, s.Cell, s.Round, string(s.State), s.Reason}
	}
	return out
}
