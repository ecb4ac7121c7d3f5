package main

import (
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// pipe runs the toxic between two channels as toxiproxy does.
func pipe(t *testing.T, toxic *delayToxic) (chan<- *stream.StreamChunk, <-chan *stream.StreamChunk) {
	t.Helper()
	in := make(chan *stream.StreamChunk, toxic.GetBufferSize())
	out := make(chan *stream.StreamChunk)
	stub := toxics.NewToxicStub(in, out)
	go stub.Run(&toxics.ToxicWrapper{Toxic: toxic, Toxicity: 1})
	t.Cleanup(func() {
		close(in)
		for range out { // Pipe has ended when it closed its output
		}
	})
	return in, out
}

func TestDelaysOfFollowingChunksOverlap(t *testing.T) {
	const chunks = 100
	const delay = 20 * time.Millisecond
	in, out := pipe(t, &delayToxic{DelayUS: delay.Microseconds()})
	began := time.Now()
	for i := range chunks {
		in <- &stream.StreamChunk{Data: []byte{byte(i)}, Timestamp: time.Now()}
	}
	for i := range chunks {
		if c := <-out; c.Data[0] != byte(i) {
			t.Fatalf("chunk %d came as number %d", c.Data[0], i)
		}
	}
	took := time.Since(began)
	if took < delay {
		t.Errorf("took %v, less than one delay of %v", took, delay)
	}
	if one := chunks * delay; took > one/2 { // one after another: 2 s
		t.Errorf("took %v: the delays of %d chunks add up", took, chunks)
	}
}

func TestChainedDelaysAddUp(t *testing.T) {
	const delay = 5 * time.Millisecond
	in, mid := pipe(t, &delayToxic{DelayUS: delay.Microseconds()})
	in2, out := pipe(t, &delayToxic{DelayUS: delay.Microseconds()})
	began := time.Now()
	in <- &stream.StreamChunk{Data: []byte{1}, Timestamp: began}
	in2 <- <-mid
	if c := <-out; c.Timestamp.Sub(began) != 2*delay {
		t.Errorf("due %v after the arrival, want %v", c.Timestamp.Sub(began), 2*delay)
	}
	if took := time.Since(began); took < 2*delay {
		t.Errorf("took %v, want at least %v", took, 2*delay)
	}
}

func TestAlarmIsNeverEarly(t *testing.T) {
	var a alarm
	defer a.close()
	for _, d := range []time.Duration{time.Nanosecond, 20 * time.Microsecond, 200 * time.Microsecond, 3 * time.Millisecond} {
		for range 20 {
			due := time.Now().Add(d)
			if !waitUntil(&a, due, nil) {
				t.Fatal("interrupted by nobody")
			}
			if now := time.Now(); now.Before(due) {
				t.Fatalf("%v: early by %v", d, due.Sub(now))
			}
		}
	}
}

func TestInterruptEndsALongWait(t *testing.T) {
	var a alarm
	defer a.close()
	interrupt := make(chan struct{}, 1)
	interrupt <- struct{}{}
	began := time.Now()
	if waitUntil(&a, began.Add(time.Hour), interrupt) {
		t.Error("waited for an hour")
	}
}

// BenchmarkAlarm shows how late a wait of 200 us ends (excess-us/op).
func BenchmarkAlarm(b *testing.B) {
	var a alarm
	defer a.close()
	const d = 200 * time.Microsecond
	for b.Loop() {
		waitUntil(&a, time.Now().Add(d), nil)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)-200, "excess-us/op")
}
