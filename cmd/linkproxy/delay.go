package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// delayType is the type under which the toxic is known to the API.
const delayType = "delay"

// maxDelay bounds the attribute: above it is surely a slip of the unit.
const maxDelay = time.Hour

// buffered is how many chunks (reads of up to 32 KiB) of one connection may be
// on their way at once. A link that needs more inside one delay is throttled.
const buffered = 1024

// delayToxic delivers every chunk a fixed time after it arrived: a longer wire,
// not a slower one. Chunks keep their order, and the delays of chunks that
// follow one another overlap, so throughput stays what it was. Zero passes
// everything on at once, through the same goroutines.
//
// A chunk is never early. How late it is beyond the hop itself: alarm.
type delayToxic struct {
	// DelayUS is the time in microseconds, 0 to an hour.
	DelayUS int64 `json:"delay_us"`
}

// UnmarshalJSON refuses what would silently have no effect: other attributes
// and values out of range. The API answers 400. What is not named stays.
func (t *delayToxic) UnmarshalJSON(b []byte) error {
	type plain delayToxic
	got := plain(*t)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		return fmt.Errorf("attributes of %s: %w", delayType, err)
	}
	if got.DelayUS < 0 || got.DelayUS > maxDelay.Microseconds() {
		return fmt.Errorf("attributes of %s: delay_us: %d lies outside 0 to %d", delayType, got.DelayUS, maxDelay.Microseconds())
	}
	*t = delayToxic(got)
	return nil
}

// GetBufferSize is how many chunks wait in front of the toxic.
func (t *delayToxic) GetBufferSize() int { return buffered }

// Pipe delays one direction of one connection until the stream ends or
// toxiproxy interrupts it to change the chain (an update starts Pipe anew).
// What is in hand at an interrupt goes on at once: no data is dropped.
func (t *delayToxic) Pipe(stub *toxics.ToxicStub) {
	delay := time.Duration(t.DelayUS) * time.Microsecond
	var alarm alarm
	defer alarm.close()
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			c.Timestamp = c.Timestamp.Add(delay) // a toxic behind this one counts from the delivery
			interrupted := !waitUntil(&alarm, c.Timestamp, stub.Interrupt)
			stub.Output <- c
			if interrupted {
				return
			}
		}
	}
}

// fine is the last part of a wait, which is left to the alarm: long enough to
// hide the slack of Go's timers, short enough for an interrupt to wait for.
const fine = 4 * time.Millisecond

// waitUntil waits for due and reports true, or false as soon as interrupt is
// received while due is still over fine away.
func waitUntil(a *alarm, due time.Time, interrupt <-chan struct{}) bool {
	if coarse := time.Until(due) - fine; coarse > 0 {
		select {
		case <-time.After(coarse):
		case <-interrupt:
			return false
		}
	}
	for left := time.Until(due); left > 0; left = time.Until(due) {
		a.wait(left)
	}
	return true
}
