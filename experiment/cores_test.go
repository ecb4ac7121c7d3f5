package experiment

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

func TestParseCoreSet(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1-3": "1-3", "0,2-3": "0,2-3", "3,1,2": "1-3", "0,0": "0", " 1 , 2 ": "1-2", "5-5": "5",
		"": "error", "a": "error", "1-": "error", "-1": "error", "3-1": "error", "0-9000": "error", "1,,2": "error",
	} {
		set, err := ParseCoreSet(text)
		got := set.String()
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("ParseCoreSet(%q) = %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestCoreSetJSON(t *testing.T) {
	for _, want := range []CoreSet{nil, {0}, {0, 2, 3}} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got CoreSet
		if err := json.Unmarshal(b, &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v is written %s and read %v (%v)", want, b, got, err)
		}
	}
}

func TestPlace(t *testing.T) {
	auto := PlaceSpec{Subject: "auto", Backing: "auto", Load: "auto", Conductor: "auto"}
	for _, c := range []struct {
		name   string
		spec   PlaceSpec
		cores  string
		shared bool
		want   string // subject backing load conductor, or
		fault  string
	}{
		{name: "two cores", spec: auto, cores: "0-1", want: "0 0 1 1"},
		{name: "two of many", spec: auto, cores: "4,9", want: "4 4 9 9"},
		{name: "three cores", spec: auto, cores: "0-2", want: "0-1 0-1 2 2"},
		{name: "four cores", spec: auto, cores: "0-3", want: "0-1 2 3 2"},
		{name: "eight cores", spec: auto, cores: "0-7", want: "0-3 4-5 6-7 4-5"},
		{name: "one core", spec: auto, cores: "0", fault: "one core only: subject and generator would share it: cannot measure here"},
		{name: "one core, accepted", spec: auto, cores: "0", shared: true, want: "0 0 0 0"},
		{name: "as told", spec: PlaceSpec{Subject: "2-3", Backing: "1", Load: "0", Conductor: "1"}, cores: "0-3", want: "2-3 1 0 1"},
		{name: "partly told", spec: PlaceSpec{Subject: "auto", Backing: "1", Load: "auto", Conductor: "auto"}, cores: "0-3", want: "0-1 1 3 2"},
		{
			name: "one core, as told", spec: PlaceSpec{Subject: "0", Load: "0"}, cores: "0",
			fault: "one core only: subject and generator would share it: cannot measure here",
		},
		{name: "one core, as told and accepted", spec: PlaceSpec{Subject: "0", Load: "0"}, cores: "0", shared: true, want: "0 0 0 0"},
		{
			name: "told to share", spec: PlaceSpec{Subject: "0-2", Load: "2-3"}, cores: "0-3",
			fault: "place: subject on core 0-2 and generator on core 2-3 would share: cannot measure here",
		},
		{name: "told to share, accepted", spec: PlaceSpec{Subject: "0-2", Load: "2-3"}, cores: "0-3", shared: true, want: "0-2 2 2-3 2"},
		{
			name: "subject told, on the generator's core", spec: PlaceSpec{Subject: "1", Load: "auto"}, cores: "0-1",
			fault: "place: subject on core 1 and generator on core 1 would share: cannot measure here",
		},
		{name: "generator told, beside backing", spec: PlaceSpec{Subject: "0", Backing: "1", Load: "1"}, cores: "0-1", want: "0 1 1 1"},
		{
			name: "core that is not there", spec: PlaceSpec{Subject: "7", Load: "0"}, cores: "0-1",
			fault: "place.subject: core 7 is not on this host (it has 0-1): cannot measure here",
		},
		{name: "no set", spec: PlaceSpec{Subject: "x", Load: "0"}, cores: "0-1", fault: `place.subject: "x" is no set of cores (as in 0, 1-3 or 0,2)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cores, err := ParseCoreSet(c.cores)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Place(c.spec, cores, c.shared)
			if errText(err) != c.fault {
				t.Fatalf("got error %v, want %q", err, c.fault)
			}
			if c.fault != "" {
				return
			}
			got := p.Subject.String() + " " + p.Backing.String() + " " + p.Load.String() + " " + p.Conductor.String()
			if got != c.want || p.Reason == "" {
				t.Errorf("placed %s (%s), want %s", got, p.Reason, c.want)
			}
			if !c.shared && p.Subject.Overlaps(p.Load) {
				t.Error("the generator shares a core with the subject")
			}
		})
	}
	if _, err := Place(auto, nil, true); !errors.Is(err, ErrCannotRun) {
		t.Errorf("no cores gave %v", err)
	}
}

// TestPlaceOnAnyHost: from two cores on every role has a core, all of the host's,
// and the generator shares none with subject or backing.
func TestPlaceOnAnyHost(t *testing.T) {
	auto := PlaceSpec{Subject: "auto", Backing: "auto", Load: "auto", Conductor: "auto"}
	for n := 2; n <= 130; n++ {
		var cores CoreSet
		for c := range n {
			cores = append(cores, 3*c)
		}
		p, err := Place(auto, cores, false)
		if err != nil {
			t.Fatal(err)
		}
		used := slices.Concat(p.Subject, p.Backing, p.Load, p.Conductor)
		slices.Sort(used)
		if !slices.Equal(slices.Compact(used), cores) {
			t.Errorf("%d cores: %v are used", n, used)
		}
		for _, r := range []ServiceRole{RoleSubject, RoleBacking} {
			if p.For(r) == nil || p.For(r).Overlaps(p.For(RoleLoad)) {
				t.Errorf("%d cores: %s on %s, load on %s", n, r, p.For(r), p.Load)
			}
		}
	}
}
