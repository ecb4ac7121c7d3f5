package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	mini "github.com/alicebob/miniredis/v2/server"
	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// counted is a Redis that counts the commands it gets, by name.
type counted struct {
	*miniredis.Miniredis
	mu  sync.Mutex
	got map[string]int
}

func startRedis(t *testing.T) *counted {
	t.Helper()
	c := &counted{Miniredis: miniredis.RunT(t), got: map[string]int{}}
	c.Server().SetPreHook(func(_ *mini.Peer, cmd string, _ ...string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got[strings.ToLower(cmd)]++
		return false
	})
	return c
}

// take gives the counts since the last call.
func (c *counted) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = map[string]int{}
	return got
}

// startAPI serves with the given settings on a real Redis client.
func startAPI(t *testing.T, redisAddr string, out io.Writer, vars map[string]string) (*server, string) {
	t.Helper()
	all := map[string]string{"REDIS_ADDR": redisAddr}
	maps.Copy(all, vars)
	cfg, err := parseConfig(lookupIn(all))
	if err != nil {
		t.Fatal(err)
	}
	redis, err := openRedis(t.Context(), cfg.RedisAddr, cfg.PoolSize, cfg.PolicyBytes)
	if err != nil {
		t.Fatal(err)
	}
	a := newAppender(out, cfg)
	s := newServer(t.Context(), cfg, redis, a)
	web := httptest.NewServer(s.handler())
	t.Cleanup(func() {
		web.Close()
		a.close()
		redis.Close()
	})
	return s, web.URL
}

func fetch(t *testing.T, url string) (int, []byte) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func scrape(t *testing.T, base string) map[string]*dto.MetricFamily {
	t.Helper()
	_, body := fetch(t, base+"/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, body)
	}
	return families
}

func TestCommandsSentToRedis(t *testing.T) {
	for _, tc := range []struct {
		name string
		vars map[string]string
		want map[string]int // of 3 requests
	}{
		{"baseline", nil, map[string]int{"get": 30}},
		{"validated", map[string]string{"VALIDATE_CONNECTION": "true"}, map[string]int{"get": 30, "ping": 30}},
		{"validated, one connection", map[string]string{"VALIDATE_CONNECTION": "true", "POOL_SIZE": "1"}, map[string]int{"get": 30, "ping": 30}},
		{"more round trips", map[string]string{"ROUND_TRIPS": "4"}, map[string]int{"get": 120}},
		{"fanned out and validated", map[string]string{"FANOUT": "true", "ROUND_TRIPS": "2", "VALIDATE_CONNECTION": "true"}, map[string]int{"get": 60, "ping": 60}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			redis := startRedis(t)
			s, base := startAPI(t, redis.Addr(), io.Discard, tc.vars)
			if atStart := redis.take(); atStart["ping"] != 0 || atStart["client"] != 0 {
				t.Errorf("sent at the start: %v", atStart)
			}
			if n := redis.CurrentConnectionCount(); n != s.cfg.PoolSize {
				t.Errorf("%d connections are open, want all %d", n, s.cfg.PoolSize)
			}
			for range 3 {
				if code, body := fetch(t, base+"/coupons/available?user=7"); code != http.StatusOK {
					t.Fatalf("%d %s", code, body)
				}
			}
			if d := cmp.Diff(tc.want, redis.take()); d != "" {
				t.Error(d)
			}
			if n := redis.TotalConnectionCount(); n != s.cfg.PoolSize {
				t.Errorf("%d connections in all, want %d: some were opened under load", n, s.cfg.PoolSize)
			}
			got := scrape(t, base)
			if n := got["couponapi_ping_seconds"].GetMetric()[0].GetSummary().GetSampleCount(); int(n) != tc.want["ping"] {
				t.Errorf("couponapi_ping_seconds_count %d, want %d", n, tc.want["ping"])
			}
			if n := got["couponapi_commands_total"].GetMetric()[0].GetCounter().GetValue(); int(n) != tc.want["get"]+tc.want["ping"] {
				t.Errorf("couponapi_commands_total %v, want %v", n, tc.want)
			}
		})
	}
}

func TestResponseHoldsTheUsersPolicies(t *testing.T) {
	_, base := startAPI(t, startRedis(t).Addr(), io.Discard, nil)
	code, body := fetch(t, base+"/coupons/available?user=199")
	if code != http.StatusOK || len(body) < 1024 || len(body) > 2560 {
		t.Fatalf("%d with %d bytes", code, len(body))
	}
	var got struct {
		User     int
		Policies []struct{ ID int }
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, p := range got.Policies {
		ids = append(ids, p.ID)
	}
	if d := cmp.Diff([]int{99, 6, 13, 20, 27, 34, 41, 48, 55, 62}, ids); d != "" || got.User != 199 {
		t.Errorf("user %d, policies: %s", got.User, d)
	}
}

func TestWhatIsThereIsNotOverwritten(t *testing.T) {
	redis := startRedis(t)
	if err := redis.Set("policy:3", `{"id":3,"own":true}`); err != nil {
		t.Fatal(err)
	}
	_, base := startAPI(t, redis.Addr(), io.Discard, nil)
	if _, body := fetch(t, base+"/coupons/available?user=3"); !strings.Contains(string(body), `{"id":3,"own":true}`) {
		t.Errorf("policy 3 was written again: %s", body)
	}
}

func TestFaultsOfARequest(t *testing.T) {
	redis := startRedis(t)
	_, base := startAPI(t, redis.Addr(), io.Discard, map[string]string{"VALIDATE_CONNECTION": "true"})
	for _, query := range []string{"", "?user=", "?user=x", "?user=-1"} {
		if code, _ := fetch(t, base+"/coupons/available"+query); code != http.StatusBadRequest {
			t.Errorf("%q: %d, want 400", query, code)
		}
	}
	redis.SetError("LOADING")
	if code, body := fetch(t, base+"/coupons/available?user=1"); code != http.StatusBadGateway || !strings.Contains(string(body), "LOADING") {
		t.Errorf("redis broken: %d %s, want 502 with its error", code, body)
	}
	redis.SetError("")
	if code, _ := fetch(t, base+"/coupons/available?user=1"); code != http.StatusOK {
		t.Errorf("redis well again: %d", code)
	}
	want := map[string]float64{"200": 1, "400": 4, "499": 0, "502": 1, "503": 0}
	got := map[string]float64{}
	for _, m := range scrape(t, base)["couponapi_requests_total"].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBodiesAreLoggedWhole(t *testing.T) {
	for _, tc := range []struct {
		level string
		lines int
	}{{"off", 0}, {"info", 2}, {"debug", 12}} {
		t.Run(tc.level, func(t *testing.T) {
			var out bytes.Buffer
			s, base := startAPI(t, startRedis(t).Addr(), &out, map[string]string{"LOG_LEVEL": tc.level})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/coupons/available?user=5", strings.NewReader("asked with \"words\"\n"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if s.out.lines.Load() != int64(tc.lines) || strings.Count(out.String(), "\n") != tc.lines {
				t.Fatalf("%d lines counted, want %d:\n%s", s.out.lines.Load(), tc.lines, &out)
			}
			logged := map[string]string{}
			for lines := bufio.NewScanner(&out); lines.Scan(); {
				var l struct{ Msg, Body string }
				if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
					t.Fatal(err)
				}
				if l.Msg != "redis" {
					logged[l.Msg] = l.Body
				}
			}
			want := map[string]string{"request": "asked with \"words\"\n", "response": string(body)}
			if tc.level == "off" {
				want = map[string]string{}
			}
			if d := cmp.Diff(want, logged); d != "" {
				t.Error(d)
			}
		})
	}
}

// held is a Redis whose reads wait until they are let go.
type held struct{ letGo chan struct{} }

func (h held) ping(context.Context) error { return nil }
func (h held) usage() (int, int)          { return 5, 7 }
func (h held) get(ctx context.Context, _ string) (string, error) {
	select {
	case <-h.letGo:
		return "{}", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestExhaustionIsAnsweredAndShown(t *testing.T) {
	cfg, err := parseConfig(lookupIn(map[string]string{"THREADS": "2", "POOL_SIZE": "9"}))
	if err != nil {
		t.Fatal(err)
	}
	letGo := make(chan struct{})
	s := newServer(t.Context(), cfg, held{letGo}, newAppender(io.Discard, cfg))
	s.workers.limit = 3
	web := httptest.NewServer(s.handler())
	defer web.Close()

	codes := make(chan int, 5)
	for range 5 { // 2 at work, 3 in the queue
		go func() {
			resp, err := http.Get(web.URL + "/coupons/available?user=1")
			if err != nil {
				t.Error(err)
				codes <- 0
				return
			}
			resp.Body.Close()
			codes <- resp.StatusCode
		}()
	}
	for s.workers.busy() != 2 || s.workers.queued() != 3 {
		time.Sleep(time.Millisecond)
	}
	if code, _ := fetch(t, web.URL+"/coupons/available?user=1"); code != http.StatusServiceUnavailable {
		t.Errorf("sixth request: %d, want 503", code)
	}
	if code, _ := fetch(t, web.URL+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d while all threads are busy", code)
	}
	var shown config
	if _, body := fetch(t, web.URL+"/config"); json.Unmarshal(body, &shown) != nil || shown != cfg {
		t.Errorf("/config: %s, want %+v", body, cfg)
	}
	got := scrape(t, web.URL)
	for name, want := range map[string]float64{
		"couponapi_threads_busy": 2, "couponapi_threads_max": 2, "couponapi_queue_length": 3,
		"couponapi_pool_active": 5, "couponapi_pool_max": 9, "couponapi_pool_pending": 7,
	} {
		f := got[name]
		if f.GetType() != dto.MetricType_GAUGE || f.GetHelp() == "" || f.GetMetric()[0].GetGauge().GetValue() != want {
			t.Errorf("%s: %v, want a gauge of %v", name, f, want)
		}
	}
	close(letGo)
	for range 5 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a request that waited: %d", code)
		}
	}
}

func TestAClientThatLeavesFreesItsPlace(t *testing.T) {
	cfg, err := parseConfig(lookupIn(map[string]string{"THREADS": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t.Context(), cfg, held{make(chan struct{})}, newAppender(io.Discard, cfg))
	web := httptest.NewServer(s.handler())
	defer web.Close()
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2 { // one at work, one in the queue
		all.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/coupons/available?user=1", nil)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
				t.Errorf("answered with %s", resp.Status)
			}
		})
	}
	for s.workers.queued() != 1 {
		time.Sleep(time.Millisecond)
	}
	leave()
	all.Wait()
	for s.statuses[statusGone].Load() != 2 || s.workers.busy() != 0 || s.workers.queued() != 0 {
		time.Sleep(time.Millisecond) // the test's own deadline bounds it
	}
}

func TestRunFromStartToSignal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := l.Addr().String()
	l.Close()
	redis := startRedis(t)
	addr := redis.Addr()
	redis.Close() // Redis comes later than the service

	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var stdout, stderr bytes.Buffer
	go func() {
		ended <- run(ctx, lookupIn(map[string]string{"LISTEN": listen, "REDIS_ADDR": addr}), &stdout, &stderr)
	}()
	if err := redis.StartAddr(addr); err != nil {
		t.Fatal(err)
	}
	for {
		resp, err := http.Get("http://" + listen + "/healthz")
		if err == nil {
			resp.Body.Close()
			break
		}
		select {
		case code := <-ended:
			t.Fatalf("ended with %d: %s", code, &stderr)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if code, _ := fetch(t, "http://"+listen+"/coupons/available?user=1"); code != http.StatusOK {
		t.Errorf("ready, but answered %d", code)
	}
	signal()
	if code := <-ended; code != 0 || stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q; want 0 and nothing", code, &stderr)
	}
}

func TestNoRedisIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 5 s")
	}
	redis := startRedis(t)
	addr := redis.Addr()
	redis.Close()
	var stderr bytes.Buffer
	code := run(t.Context(), lookupIn(map[string]string{"REDIS_ADDR": addr}), io.Discard, &stderr)
	if code != 1 || !strings.HasPrefix(stderr.String(), "couponapi: redis at "+addr+": ") || !strings.Contains(stderr.String(), "refused") {
		t.Errorf("exit %d, stderr %q", code, &stderr)
	}
}
