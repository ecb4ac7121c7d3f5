package fake_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
)

func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := fake.New(fake.Script{Service: func(_ fake.Run, s experiment.Service) fake.Behaviour {
			if s.Name == "slow" {
				return fake.Behaviour{Exit: &fake.Exit{After: time.Hour, Code: 4}}
			}
			return fake.Behaviour{}
		}})
		env, err := r.Open(t.Context(), experiment.RunKey{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name  string
			code  int
			after time.Duration
		}{{"quick", 0, 0}, {"slow", 4, time.Hour}} {
			began := time.Now()
			p, err := env.Launch(t.Context(), experiment.Service{Name: tc.name, Job: true, Ready: &experiment.Step{Log: "never asked"}})
			if err != nil || time.Since(began) != 0 {
				t.Fatalf("%s: launched after %v, %v", tc.name, time.Since(began), err)
			}
			exit, err := p.Wait(t.Context())
			if err != nil || exit.Code != tc.code || exit.At.Sub(began) != tc.after {
				t.Errorf("%s: ended with %+v after %v, %v", tc.name, exit, exit.At.Sub(began), err)
			}
		}
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := r.Live(); n != 0 {
			t.Errorf("%d things live", n)
		}
	})
}

// TestVolumesAreScripted prepares a volume in one run and restores it in the next,
// where the script sees it.
func TestVolumesAreScripted(t *testing.T) {
	var seen []string
	r := fake.New(fake.Script{Service: func(run fake.Run, _ experiment.Service) fake.Behaviour {
		seen = append(seen, run.Restored["data"])
		return fake.Behaviour{Volumes: map[string]string{"data": "rows" + run.Restored["data"]}}
	}})
	db := experiment.Service{Name: "db", Volumes: []experiment.Volume{{Name: "data", Target: "/data"}}}
	var saved bytes.Buffer
	for range 2 {
		env, err := r.Open(t.Context(), experiment.RunKey{})
		if err != nil {
			t.Fatal(err)
		}
		keeper := env.(experiment.VolumeKeeper)
		if saved.Len() > 0 {
			if err := keeper.RestoreVolumes(t.Context(), db, &saved); err != nil {
				t.Fatal(err)
			}
		}
		p, err := env.Launch(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		saved.Reset()
		if err := keeper.SaveVolumes(t.Context(), "db", &saved); err != nil {
			t.Fatal(err)
		}
		if err := env.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(seen, []string{"", "rows"}); diff != "" {
		t.Errorf("restored (-got +want):\n%s", diff)
	}
	events := []string{
		"open 1", "launch 1 db", "end 1 db 0", "save 1 db", "close 1",
		"open 2", "restore 2 db", "launch 2 db", "end 2 db 0", "save 2 db", "close 2",
	}
	if diff := cmp.Diff(r.Events(), events); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	r := fake.New(fake.Script{Service: func(fake.Run, experiment.Service) fake.Behaviour {
		return fake.Behaviour{Pages: map[string]string{"/metrics": "up 1\n"}}
	}})
	env, err := r.Open(t.Context(), experiment.RunKey{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := env.Launch(t.Context(), experiment.Service{Name: "app", Ports: []int{80}})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := p.Addr(80, experiment.FromConductor)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return resp.StatusCode, string(b)
	}
	if code, body := get("/metrics"); code != 200 || body != "up 1\n" {
		t.Errorf("got %d %q", code, body)
	}
	if code, _ := get("/other"); code != 404 {
		t.Errorf("a page that is not there: got %d", code)
	}
	if err := env.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code, body := get("/metrics"); code != 0 {
		t.Errorf("after close: got %d %q", code, body)
	}
}
