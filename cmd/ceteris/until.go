package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// bound gives the moment after which no round begins, from --until or --for; zero
// without either. until is a time of day, the next one at which the clock on the
// wall says so, or a whole time as RFC 3339 has it.
func bound(until, period string, now time.Time) (time.Time, error) {
	switch {
	case until != "" && period != "":
		return time.Time{}, &usageError{errors.New("--until and --for: want one of them")}
	case period != "":
		d, err := experiment.ParseDuration(period)
		if err == nil && d == 0 {
			err = fmt.Errorf("%q leaves no time", period)
		}
		if err != nil {
			return time.Time{}, &usageError{fmt.Errorf("--for: %w", err)}
		}
		return now.Add(d), nil
	case until != "":
		at, err := nextTime(until, now)
		if err != nil {
			return time.Time{}, &usageError{fmt.Errorf("--until: %w", err)}
		}
		return at, nil
	default:
		return time.Time{}, nil
	}
}

func nextTime(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		if !at.After(now) {
			return at, fmt.Errorf("%s is over", text)
		}
		return at.In(now.Location()), nil
	}
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return clock, fmt.Errorf("%q is no time (as in 07:00 or 2026-03-01T07:00:00+01:00)", text)
	}
	// By the calendar, not by adding 24 hours: a night may have 23 or 25.
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return at, nil
}

// clockOf says when, for people who know what day it is.
func clockOf(at, now time.Time) string {
	if at.Sub(now) < 24*time.Hour && now.Sub(at) < 24*time.Hour {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
