package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

// inputs looks at what a matrix names outside itself and what the generator would
// refuse, before anything begins: data, values of the caller's variables in requests,
// what is built, what is mounted.
type inputs struct {
	m      *experiment.Matrix
	values map[string]string // of the caller's variables
	local  bool              // the engine sees this machine's files
	feeds  map[string]*load.Feed
	loads  map[string]bool // looked at, by hash
}

// check looks at one cell. The faults are the matrix's.
func (in *inputs) check(p experiment.CellPlan) error {
	for _, s := range p.Services {
		if err := in.service(s); err != nil {
			return in.fault("subject.services."+s.Name, err)
		}
	}
	if x := p.Load.External; x != nil {
		if err := in.service(x.Service); err != nil {
			return in.fault("load", err)
		}
		return nil
	}
	if p.Load.None {
		return nil
	}
	l := in.resolved(p.Load)
	if hash := experiment.HashJSON(l); !in.loads[hash] {
		in.loads[hash] = true
		if err := in.load(l); err != nil {
			return in.fault("load", err)
		}
	}
	return nil
}

func (in *inputs) fault(path string, err error) error {
	return &experiment.FieldError{At: experiment.Pos{File: in.m.Origin.File}, Path: path, Err: err}
}

func (in *inputs) service(s experiment.Service) error {
	if b := s.Build; b != nil {
		for _, dir := range []string{b.Go, b.Context} {
			if dir == "" {
				continue
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("build: %s is no directory", dir)
			}
		}
		if file := filepath.Join(b.Context, cmp.Or(b.Dockerfile, "Dockerfile")); b.Context != "" {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("build: there is no %s", file)
			}
		}
	}
	if !in.local {
		return nil
	}
	for _, v := range s.Mounts {
		if _, err := os.Stat(v.Source); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("mounts: there is no %s", v.Source)
		}
	}
	return nil
}

// resolved puts the caller's variables into the requests, as the generator will get
// them, and a target where the real one is not known yet.
func (in *inputs) resolved(l experiment.Load) experiment.Load {
	value := func(ref experiment.Ref) (string, bool) {
		v, ok := in.values[ref.Name]
		return v, ok && ref.Kind == experiment.RefEnv
	}
	requests := make([]experiment.Request, len(l.Requests))
	for i, q := range l.Requests {
		q.Path, q.Body = q.Path.Resolve(value), q.Body.Resolve(value)
		var headers []experiment.EnvVar
		for _, h := range q.Headers {
			h.Value = h.Value.Resolve(value)
			if !unset(h.Value) {
				headers = append(headers, h)
			}
		}
		q.Headers = headers
		if unset(q.Body) {
			q.Body = experiment.Template{}
		}
		requests[i] = q
	}
	l.Requests, l.Targets = requests, []string{"target:1"}
	return l
}

// unset reports whether a variable that is not set is left: then the text is left out.
func unset(t experiment.Template) bool {
	for _, ref := range t.Refs() {
		if ref.Kind == experiment.RefEnv {
			return true
		}
	}
	return false
}

func (in *inputs) load(l experiment.Load) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := load.ParsePlan(text); err != nil {
		return err
	}
	if l.Data == nil {
		return nil
	}
	feed, ok := in.feeds[l.Data.File]
	if !ok {
		rows, err := os.ReadFile(l.Data.File)
		if err != nil {
			return err
		}
		if feed, err = load.ParseFeed(rows, *l.Data); err != nil {
			return err
		}
		in.feeds[l.Data.File] = feed
	}
	return feed.Check(l.Requests)
}
