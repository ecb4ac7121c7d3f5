package probe

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// page is a page in the Prometheus text format, by the names of families.
type page map[string]*dto.MetricFamily

// maxPage bounds what is read of a page, in bytes.
const maxPage = 32 << 20

func readPage(r io.Reader) (page, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// Not every service ends the last line.
	families, err := parser.TextToMetricFamilies(io.MultiReader(io.LimitReader(r, maxPage), strings.NewReader("\n")))
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return families, nil
}

// selector picks series of a page: those of a name that have all the labels.
type selector struct {
	name   string
	labels map[string]string
}

var (
	selectorForm = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:.]*)(?:\{(.*)\})?$`)
	labelForm    = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*=\s*("(?:[^"\\]|\\.)*")\s*(,|$)`)
)

// parseSelector reads NAME or NAME{label="value",...}.
func parseSelector(text string) (selector, error) {
	m := selectorForm.FindStringSubmatch(text)
	if m == nil {
		return selector{}, fmt.Errorf("%q is no selector (as in http_requests_total{code=\"200\"})", text)
	}
	s := selector{name: m[1], labels: map[string]string{}}
	for rest := m[2]; strings.TrimSpace(rest) != ""; {
		label := labelForm.FindStringSubmatch(rest)
		if label == nil {
			return selector{}, fmt.Errorf("%q: %q is no label=\"value\"", text, rest)
		}
		value, err := strconv.Unquote(label[2])
		if err != nil {
			return selector{}, fmt.Errorf("%q: the value of %s: %w", text, label[1], err)
		}
		s.labels[label[1]] = value
		rest = rest[len(label[0]):]
	}
	return s, nil
}

// errNoSeries says that nothing on a page is what a selector wants.
var errNoSeries = errors.New("no series of the page matches")

// sum adds the values of the series that match, and says whether they only grow.
// Histograms and summaries are named by their parts: NAME_count, NAME_sum, and
// NAME_bucket with a label le; a quantile of a summary by its label.
func (s selector) sum(p page) (total float64, counter bool, err error) {
	found := false
	add := func(v float64, grows bool) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			total, counter, found = total+v, grows, true
		}
	}
	if family, ok := p[s.name]; ok {
		for _, m := range family.GetMetric() {
			s.plain(family.GetType(), m, add)
		}
	}
	for _, part := range []string{"count", "sum", "bucket"} {
		if base, ok := strings.CutSuffix(s.name, "_"+part); ok {
			for _, m := range p[base].GetMetric() {
				s.part(part, m, add)
			}
		}
	}
	if !found {
		return 0, false, errNoSeries
	}
	return total, counter, nil
}

// plain adds a series of a family that has the selector's name.
func (s selector) plain(kind dto.MetricType, m *dto.Metric, add func(float64, bool)) {
	switch {
	case kind == dto.MetricType_SUMMARY:
		for _, q := range m.GetSummary().GetQuantile() {
			if s.matches(m, "quantile", q.GetQuantile()) {
				add(q.GetValue(), false)
			}
		}
	case !s.matches(m, "", 0):
	case m.GetCounter() != nil:
		add(m.GetCounter().GetValue(), true)
	case m.GetGauge() != nil:
		add(m.GetGauge().GetValue(), false)
	case m.GetUntyped() != nil:
		add(m.GetUntyped().GetValue(), false)
	}
}

// part adds a part of a histogram or summary.
func (s selector) part(part string, m *dto.Metric, add func(float64, bool)) {
	h, q := m.GetHistogram(), m.GetSummary()
	switch {
	case part == "bucket":
		for _, b := range h.GetBucket() {
			if _, one := s.labels["le"]; one && s.matches(m, "le", b.GetUpperBound()) {
				add(float64(b.GetCumulativeCount()), true)
			}
		}
	case !s.matches(m, "", 0):
	case part == "count" && h != nil:
		add(float64(h.GetSampleCount()), true)
	case part == "count" && q != nil:
		add(float64(q.GetSampleCount()), true)
	case part == "sum" && h != nil:
		add(h.GetSampleSum(), true)
	case part == "sum" && q != nil:
		add(q.GetSampleSum(), true)
	}
}

// matches reports whether a series has all labels; one of them may be a number that
// the format keeps apart: of a bucket or a quantile.
func (s selector) matches(m *dto.Metric, numbered string, number float64) bool {
	for name, want := range s.labels {
		if name == numbered {
			v, err := strconv.ParseFloat(want, 64)
			if err != nil || v != number {
				return false
			}
			continue
		}
		has := false
		for _, l := range m.GetLabel() {
			has = has || l.GetName() == name && l.GetValue() == want
		}
		if !has {
			return false
		}
	}
	return true
}
