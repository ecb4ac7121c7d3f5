package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
)

// statusGone is counted (never sent) for a client that left before its answer.
const statusGone = 499

// bodyLimit bounds the body of a request that the log keeps, in bytes.
const bodyLimit = 1 << 20

// backend is Redis as the server needs it.
type backend interface {
	pool
	usage() (active, pending int)
}

// server answers the requests and holds all counters.
type server struct {
	cfg      config
	backend  backend
	workers  *workers
	store    *store
	lookup   *lookup
	out      *appender
	log      *slog.Logger
	logging  bool                  // bodies
	statuses map[int]*atomic.Int64 // requests ended; keys never change
}

func newServer(ctx context.Context, cfg config, b backend, out *appender) *server {
	s := &server{
		cfg:      cfg,
		backend:  b,
		workers:  newWorkers(cfg.Threads, queueLimit),
		store:    newStore(b, cfg.ValidateConnection),
		out:      out,
		log:      newLogger(out, cfg.LogLevel),
		statuses: map[int]*atomic.Int64{},
	}
	for _, code := range []int{http.StatusOK, http.StatusBadRequest, statusGone, http.StatusBadGateway, http.StatusServiceUnavailable} {
		s.statuses[code] = new(atomic.Int64)
	}
	s.logging = s.log.Enabled(ctx, slog.LevelInfo)
	s.lookup = &lookup{store: s.store, roundTrips: cfg.RoundTrips, fanout: cfg.Fanout}
	if s.log.Enabled(ctx, slog.LevelDebug) {
		s.lookup.each = func(ctx context.Context, key string) {
			s.log.LogAttrs(ctx, slog.LevelDebug, "redis", slog.String("command", "get"), slog.String("key", key))
		}
	}
	return s
}

// handler routes. Only coupons pass through the workers.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /coupons/available", s.available)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.cfg)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(s.metrics())
	})
	return mux
}

// available takes a thread, works, and answers, all while holding it.
func (s *server) available(w http.ResponseWriter, r *http.Request) {
	switch err := s.workers.acquire(r.Context()); {
	case errors.Is(err, errQueueFull):
		s.answer(w, r, http.StatusServiceUnavailable, errorBody(err))
		return
	case err != nil:
		s.statuses[statusGone].Add(1)
		return
	}
	defer s.workers.release()
	if s.logging {
		s.logRequest(w, r)
	}
	user, err := strconv.ParseUint(r.URL.Query().Get("user"), 10, 63)
	if err != nil {
		s.answer(w, r, http.StatusBadRequest, errorBody(errors.New("user: want a whole number")))
		return
	}
	texts, err := s.lookup.available(r.Context(), user)
	switch {
	case err == nil:
		s.answer(w, r, http.StatusOK, couponsBody(user, texts))
	case r.Context().Err() != nil:
		s.statuses[statusGone].Add(1)
	default:
		s.answer(w, r, http.StatusBadGateway, errorBody(err))
	}
}

// answer logs the whole body before it is sent, as a server that logs does.
func (s *server) answer(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	if s.logging {
		s.log.LogAttrs(r.Context(), slog.LevelInfo, "response",
			slog.String("url", r.URL.String()), slog.Int("status", code), slog.String("body", string(body)))
	}
	s.statuses[code].Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that left is no fault
}

func (s *server) logRequest(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method), slog.String("url", r.URL.String()), slog.String("body", string(body)))
}

// couponsBody joins the texts, which are JSON already.
func couponsBody(user uint64, texts [policiesPerRequest]string) []byte {
	size := len(`{"user":18446744073709551615,"policies":[]}`) + 1
	for _, t := range texts {
		size += len(t) + 1
	}
	b := make([]byte, 0, size)
	b = append(b, `{"user":`...)
	b = strconv.AppendUint(b, user, 10)
	b = append(b, `,"policies":[`...)
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t...)
	}
	return append(b, "]}\n"...)
}

func errorBody(err error) []byte {
	b, _ := json.Marshal(map[string]string{"error": err.Error()}) // strings always encode
	return append(b, '\n')
}
