package main

import "testing"

func TestGravest(t *testing.T) {
	for _, c := range []struct {
		name  string
		codes []int
		want  int
	}{
		{"none", nil, exitOK},
		{"one that ended early", []int{exitEarly}, exitEarly},
		{"a wrong call alone", []int{exitUsage}, exitUsage},
		{"a wrong call and an early end", []int{exitEarly, exitUsage}, exitUsage},
		{"a faulty matrix and a wrong call", []int{exitUsage, exitMatrix}, exitMatrix},
		{"no engine and a faulty matrix", []int{exitMatrix, exitCannotMeasure}, exitCannotMeasure},
		{"a fault", []int{exitCannotMeasure, exitFault, exitEarly}, exitFault},
		{"aborted", []int{exitFault, exitAborted}, exitAborted},
		{"one that nobody has ranked", []int{77}, 77},
		{"and another beside it", []int{77, exitEarly}, exitEarly},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gravest(c.codes); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
