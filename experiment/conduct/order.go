package conduct

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// startOrder puts services after those that they need, by declaration, by address
// or by link; otherwise the order of declaration stays.
func startOrder(services []experiment.Service, links []experiment.Link) ([]experiment.Service, error) {
	byName := map[string]experiment.Service{}
	for _, s := range services {
		byName[s.Name] = s
	}
	var out []experiment.Service
	done := map[string]bool{}
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		if done[name] {
			return nil
		}
		if i := slices.Index(path, name); i >= 0 {
			return fmt.Errorf("services wait for one another: %s", strings.Join(append(path[i:], name), " -> "))
		}
		s, ok := byName[name]
		if !ok {
			return fmt.Errorf("service %s is not declared", name)
		}
		for _, need := range needsOf(s, links) {
			if err := visit(need, append(path, name)); err != nil {
				return err
			}
		}
		done[name] = true
		out = append(out, s)
		return nil
	}
	for _, s := range services {
		if err := visit(s.Name, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func needsOf(s experiment.Service, links []experiment.Link) []string {
	needs := slices.Clone(s.Needs)
	for _, l := range links {
		if l.From == s.Name {
			needs = append(needs, l.To)
		}
	}
	add := func(t experiment.Template) {
		for _, r := range t.Refs() {
			if r.Kind == experiment.RefAddr && r.Name != s.Name {
				needs = append(needs, r.Name)
			}
		}
	}
	for _, t := range s.Command {
		add(t)
	}
	for _, e := range s.Env {
		add(e.Value)
	}
	return needs
}
