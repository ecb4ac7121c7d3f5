package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/ceteris/ceteris/experiment"
)

// mask hides the values of secrets in what people read. The zero value hides none.
type mask struct {
	mu     sync.RWMutex
	values []string
	now    experiment.Mask // of them
}

// add makes values secret.
func (m *mask) add(values map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = slices.AppendSeq(m.values, maps.Values(values))
	m.now = experiment.NewMask(m.values)
}

// text gives a text with every secret replaced.
func (m *mask) text(s string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.now.Text(s)
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
