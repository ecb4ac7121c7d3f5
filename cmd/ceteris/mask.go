package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// leastMasked is the length in bytes from which a value is masked: shorter ones
// would hide half of every sentence, and give themselves away by it.
const leastMasked = 4

// masked stands where a secret stood.
const masked = "***"

// mask hides the values of secrets in what people read. The zero value hides none.
type mask struct {
	mu      sync.RWMutex
	values  []string // the longest first
	replace *strings.Replacer
}

// add makes values secret, also as JSON has them. Of one that has several lines, each
// line is.
func (m *mask) add(values map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, value := range values {
		quoted, err := json.Marshal(value)
		if err != nil {
			panic("mask: " + err.Error()) // a broken invariant: every string has a form
		}
		for _, v := range append(strings.Split(value, "\n"), value, string(quoted[1:len(quoted)-1])) {
			if len(v) >= leastMasked && !slices.Contains(m.values, v) {
				m.values = append(m.values, v)
			}
		}
	}
	slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(m.values))
	for _, v := range m.values {
		pairs = append(pairs, v, masked)
	}
	m.replace = strings.NewReplacer(pairs...)
}

// text gives a text with every secret replaced.
func (m *mask) text(s string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.values) == 0 {
		return s
	}
	return m.replace.Replace(s)
}

// handler gives a handler of logs that lets no secret through to next, neither in a
// message nor in an attribute.
func (m *mask) handler(next slog.Handler) slog.Handler { return &maskedLog{Handler: next, mask: m} }

type maskedLog struct {
	slog.Handler
	mask *mask
}

// Handle implements slog.Handler.
func (h *maskedLog) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.mask.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.mask.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler. The attributes are masked by what is secret now.
func (h *maskedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.mask.attr(a)
	}
	return h.mask.handler(h.Handler.WithAttrs(out))
}

// WithGroup implements slog.Handler.
func (h *maskedLog) WithGroup(name string) slog.Handler {
	return h.mask.handler(h.Handler.WithGroup(name))
}

// attr masks the text of an attribute. What is neither text nor a group is left as
// it is unless its text holds a secret.
func (m *mask) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, m.text(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, x := range v.Group() {
			group[i] = m.attr(x)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		text := fmt.Sprintf("%+v", v.Any()) // as the text handler prints it
		if hidden := m.text(text); hidden != text {
			return slog.String(a.Key, hidden)
		}
	default: // numbers and times
	}
	return slog.Attr{Key: a.Key, Value: v}
}
