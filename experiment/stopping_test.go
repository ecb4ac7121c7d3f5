package experiment_test

import (
	"fmt"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestWhenRulesLook(t *testing.T) {
	for _, tc := range []struct {
		rule  experiment.StopRule
		most  int
		looks string // of 0 to 32 rounds, after which there is a look
		last  int    // rounds at the last look when 9 are done
	}{
		{experiment.StopFixed, 0, "[]", 0},
		{experiment.StopPrecise, 8, "[5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32]", 9},
		{experiment.StopDecided, 30, "[5 10 20 30 31 32]", 5},
		{experiment.StopDecided, 1000, "[5 10 20 30]", 5},
		{experiment.StopDecided, 8, "[5 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32]", 9},
	} {
		t.Run(fmt.Sprintf("%s at most %d", tc.rule, tc.most), func(t *testing.T) {
			rule := experiment.Stopping{Until: tc.rule, AtMost: tc.most}
			looks := []int{}
			for n := range 33 {
				if rule.Due(n) {
					looks = append(looks, n)
				}
			}
			if fmt.Sprint(looks) != tc.looks {
				t.Errorf("looks after %v, want %s", looks, tc.looks)
			}
			if got := rule.LastLook(9); got != tc.last {
				t.Errorf("of 9 rounds it has seen %d, want %d", got, tc.last)
			}
		})
	}
	for most, want := range map[int]int{5: 1, 8: 2, 10: 2, 20: 3, 21: 4, 30: 4, 31: 5, 1000: 5} {
		if got := (experiment.Stopping{Until: experiment.StopDecided, AtMost: most}).Looks(); got != want {
			t.Errorf("at most %d rounds: %d looks, want %d", most, got, want)
		}
	}
}
