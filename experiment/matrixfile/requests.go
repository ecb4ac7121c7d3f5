package matrixfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ceteris/ceteris/experiment"
)

// Bounds of the files that a load names.
const (
	MaxBodyBytes = 1 << 20
	MaxDataBytes = 64 << 20
)

func requestShape() shape {
	return shape{known: words("name weight method path headers body expect slo")}
}

func methods() []string { return words("GET HEAD POST PUT PATCH DELETE OPTIONS") }

// requests reads one request or a list of them.
func (r *reader) requests(v *value, o object) []experiment.RequestSpec {
	one, all := o["request"], o["requests"]
	switch {
	case one != nil && all != nil:
		r.faultAt(all, "put it into the list", "stands beside request")
	case all == nil:
		r.require(v, o, "request")
	}
	var out []experiment.RequestSpec
	if one != nil {
		return append(out, r.request(one))
	}
	items := r.items(all, "as in [{name: search, path: /search}]")
	if len(items) == 1 && !items[0].has("name") {
		items = []*value{moved(items[0], join(v.path, "request"))} // one is one, however it is written
	}
	for _, item := range items {
		out = append(out, r.request(item))
	}
	return out
}

func (r *reader) request(v *value) experiment.RequestSpec {
	o := r.object(v, requestShape())
	r.require(v, o, "path")
	q := experiment.RequestSpec{At: v.at}
	q.Name, _ = r.plain(o["name"])
	q.Weight = r.unsaid(o["weight"], "1")
	q.Method = r.oneOf(o["method"], "GET", methods(), nil)
	q.Path = r.template(o["path"], "")
	for _, f := range r.names(o["headers"], "as in {Accept: text/html}") {
		q.Headers = append(q.Headers, experiment.EnvVar{Name: f.name, Value: r.template(f.value, "")})
	}
	q.Body = r.body(o["body"])
	q.Expect = r.expect(o["expect"])
	return q
}

func expectShape() shape { return shape{known: words("status has")} }

func (r *reader) expect(v *value) experiment.Expectations {
	o := r.object(v, expectShape())
	e := experiment.Expectations{Has: r.template(o["has"], "")}
	for _, item := range r.items(o["status"], "as in [200, 2xx]") {
		text := parsed(r, item, "", func(s string) (string, error) {
			_, err := experiment.ParseStatus(s)
			return s, err
		})
		if text != "" {
			e.Status = append(e.Status, text)
		}
	}
	if o["status"] != nil && o["status"].kind == list && len(o["status"].items) == 0 {
		r.faultAt(o["status"], "as in [200, 2xx]", "names no status")
	}
	return e
}

// body reads a text, or that of the file that "@file" names.
func (r *reader) body(v *value) experiment.Template {
	if v == nil || v.kind != scalar || !strings.HasPrefix(v.text, "@") {
		return r.template(v, "")
	}
	name, ok := r.plain(v)
	if !ok {
		return experiment.Template{}
	}
	name = name[1:]
	text, err := read(r.absolute(name), "a body", MaxBodyBytes+1)
	switch {
	case err != nil:
		r.faultAt(v, "", "%s: %w", name, err)
		return experiment.Template{}
	case len(text) > MaxBodyBytes:
		r.faultAt(v, "", "%s: larger than %d KiB", name, MaxBodyBytes>>10)
		return experiment.Template{}
	case !utf8.Valid(text):
		r.faultAt(v, "", "%s: is not UTF-8", name)
		return experiment.Template{}
	}
	t, err := experiment.ParseTemplate(string(text), v.at)
	if bad, ok := errors.AsType[*experiment.TemplateError](err); ok {
		line := bytes.Count(text[:bad.Offset], []byte("\n")) + 1
		r.faultAt(v, bad.Hint, "%s:%d: %w", name, line, bad.Err)
		return experiment.Template{}
	}
	return t
}

// absolute gives a path of the matrix.
func (r *reader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

func dataShape() shape { return shape{known: words("file")} }

func (r *reader) data(v *value) *experiment.DataSpec {
	if v == nil {
		return nil
	}
	o := r.object(v, dataShape())
	r.require(v, o, "file")
	name := r.path(o["file"], "as in file: users.csv")
	if strings.TrimSpace(name) == "" {
		return &experiment.DataSpec{At: v.at}
	}
	feed, known := r.feeds[name]
	if !known {
		var err error
		if feed, err = readData(r.absolute(name)); err != nil {
			r.faultAt(o["file"], "", "%s: %w", name, err)
			return &experiment.DataSpec{File: name, At: v.at}
		}
		feed.File = name
		r.feeds[name] = feed
	}
	out := *feed
	out.At = v.at
	return &out
}

// readData reads the header of a CSV file, counts its rows and hashes its bytes.
func readData(path string) (*experiment.DataSpec, error) {
	f, err := open(path, "a CSV file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum, bounded := sha256.New(), &io.LimitedReader{R: f, N: MaxDataBytes + 1}
	rows := csv.NewReader(io.TeeReader(bounded, sum))
	header, err := rows.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("has no header row")
	case err != nil:
		return nil, err
	}
	out := &experiment.DataSpec{Columns: header}
	seen := map[string]bool{}
	for i, column := range header {
		if column == "" || seen[column] {
			return nil, fmt.Errorf("column %d is named %q, which is empty or taken", i+1, column)
		}
		seen[column] = true
	}
	rows.ReuseRecord = true
	for {
		if _, err = rows.Read(); err != nil {
			break
		}
		out.Rows++
	}
	switch {
	case bounded.N == 0:
		return nil, fmt.Errorf("larger than %d MiB", MaxDataBytes>>20)
	case !errors.Is(err, io.EOF):
		return nil, err
	case out.Rows == 0:
		return nil, errors.New("has no row under its header")
	}
	out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return out, nil
}

func sloShape() shape { return shape{known: words("p50 p90 p95 p99 p999 max")} }

// objectives reads the service levels of the requests. They are part of the rule, so
// levels that put another load in place move none.
func (r *reader) objectives(load *value, l experiment.LoadSpec) []experiment.Objective {
	var out []experiment.Objective
	for _, q := range requestValues(load) {
		slo := q.child("slo")
		if slo == nil {
			continue
		}
		request := ""
		if name := q.child("name"); name != nil {
			request = "{" + name.text + "}"
		}
		r.object(slo, sloShape())
		for _, f := range slo.fields {
			limit := parsed(r, f.value, 0, func(s string) (time.Duration, error) {
				d, err := experiment.ParseDuration(s)
				if err == nil && d == 0 {
					err = fmt.Errorf("%q: no request is answered in no time", s)
				}
				return d, err
			})
			for _, prefix := range measuredPrefixes(l) {
				out = append(out, experiment.Objective{Metric: prefix + "latency_" + f.name + request, Limit: limit.Seconds(), At: f.value.at})
			}
		}
	}
	return out
}

// requestValues gives the requests of a load as they stand in the file.
func requestValues(load *value) []*value {
	if load == nil {
		return nil
	}
	if one := load.child("request"); one != nil {
		return []*value{one}
	}
	if all := load.child("requests"); all != nil {
		return all.items
	}
	return nil
}

// measuredPrefixes gives what stands before the name of a metric of the requests, once
// for each measured part.
func measuredPrefixes(l experiment.LoadSpec) []string {
	if l.Phases == nil {
		return []string{""}
	}
	var out []string
	for _, p := range l.Phases {
		if p.Measure {
			out = append(out, p.Name+":")
		}
	}
	return out
}
