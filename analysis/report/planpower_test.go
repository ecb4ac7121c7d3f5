package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

func powerView() report.PowerView {
	cell := func(level string) experiment.Cell {
		return experiment.Cell{Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "threads", Level: level}
	}
	return report.PowerView{
		Name: "shop", Metric: experiment.Metric{Name: "throughput", Scale: experiment.ScaleRatio}, Planned: 5,
		Confidence: 0.95, Power: 0.8, Effect: 0.03, Width: 0.02, Pilot: &report.PowerPilot{ID: 4, Name: "shop", Rounds: 3},
		Rows: []report.PowerRow{
			{Cell: cell("8"), Cells: 3, N: 3, SD: 0.01, Upper: 0.021, Rounds: 7, Shows: 0.041, ForWide: 9},
			{Cell: cell("16"), Cells: 3, N: 3, SD: 0.4, Upper: 0.85, Shows: 3.2},
			{Cell: cell("32"), Cells: 3, Reason: "n < 3"},
		},
		Options: report.Options{Width: 100},
	}
}

func TestPowerForPeople(t *testing.T) {
	var out bytes.Buffer
	if err := report.Power(&out, powerView(), report.Text); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(out.String(), "\nread as:")
	want := `shop: what rounds can show of throughput, with the noise of sweep 4 (3 rounds)

cell         sd  upper  rounds for 3%  5 rounds show  rounds for +/-2%
threads=8    1%   2.1%              7           4.1%                 9
threads=16  40%    85%      over 1000           320%         over 1000
threads=32    -      -              -              -                 -
`
	if diff := cmp.Diff(table, want); diff != "" {
		t.Errorf("table (-got +want):\n%s", diff)
	}
	for _, text := range []string{"its upper 80% limit", "threads=32: n < 3", "95% simultaneous"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, out.String())
		}
	}
	v := powerView()
	v.Stopping = experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}
	v.Pilot, v.Rows = nil, []report.PowerRow{{CV: 0.05, Cells: 3, SD: 0.073, Upper: 0.073, Rounds: 60, Shows: 0.2, ForWide: 80}}
	out.Reset()
	if err := report.Power(&out, v, report.Markdown); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"under assumed noise", "| CV of the runs | sd of a ratio |", "| 5% | 7.3% | 60 | 20% | 80 |", "until they are decided"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, out.String())
		}
	}
}

func TestPowerForPrograms(t *testing.T) {
	var out bytes.Buffer
	if err := report.Power(&out, powerView(), report.CSV); err != nil {
		t.Fatal(err)
	}
	want := `stage,condition,cell,assumed_cv,cells,pilot_rounds,sd,sd_upper,rounds_for_power,planned_rounds,detectable_effect,rounds_for_half_width,reason
main,,threads=8,,3,3,0.01,0.021,7,5,0.041,9,
main,,threads=16,,3,3,0.4,0.85,,5,3.2,,
main,,threads=32,,3,,,,,5,,,n < 3
`
	if diff := cmp.Diff(out.String(), want); diff != "" {
		t.Errorf("csv (-got +want):\n%s", diff)
	}
	out.Reset()
	if err := report.Power(&out, powerView(), report.JSON); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Pilot int
		Cells []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	last := map[string]any{
		"stage": "main", "cell": "threads=32", "cells": 3.0, "pilot_rounds": nil, "sd": nil, "sd_upper": nil,
		"rounds_for_power": nil, "detectable_effect": nil, "rounds_for_half_width": nil, "reason": "n < 3",
	}
	if diff := cmp.Diff(got.Cells[2], last); diff != "" || got.Pilot != 4 {
		t.Errorf("json of pilot %d (-got +want):\n%s", got.Pilot, diff)
	}
	if err := report.Power(&out, powerView(), "xml"); err == nil {
		t.Error("xml was written")
	}
}
