package compose

import (
	"maps"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

func sorted[M ~map[string]V, V any](m M) []string { return slices.Sorted(maps.Keys(m)) }

// matrix writes the whole file.
func (c *converter) matrix(name string) (string, error) {
	services := mapping()
	for _, s := range c.order() {
		services.sub(s.Name, c.service(s))
	}
	root := mapping()
	root.text("name", name)
	root.text("question", "Which setting matters?")
	subject := mapping()
	subject.sub("services", services)
	root.sub("subject", subject)
	root.sub("load", c.load())
	text, err := root.encode()
	if err != nil {
		return "", err
	}
	head := ""
	if len(c.dropped) > 0 {
		slices.Sort(c.dropped)
		head = "# Left out of the compose file:\n#   " + strings.Join(slices.Compact(c.dropped), "\n#   ") + "\n"
	}
	return head + strings.Replace(text, "\nload:", factors+"\nload:", 1), nil
}

const factors = `
# Name what is to be varied, and write ${NAME} where it belongs:
# factors:
#   pool_size: {baseline: 64, levels: [8, 64, 256], unit: connections}
`

// order puts services after those that they need.
func (c *converter) order() []types.ServiceConfig {
	var out []types.ServiceConfig
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		s, ok := c.project.Services[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		for _, n := range sorted(s.DependsOn) {
			visit(n)
		}
		s.Name = name
		out = append(out, s)
	}
	for _, name := range sorted(c.project.Services) {
		visit(name)
	}
	return out
}

// load aims at the published port of the service that nobody needs.
func (c *converter) load() *fields {
	out := mapping()
	to := ""
	for _, s := range c.order() { // the last one needs the others
		if len(s.Ports) > 0 && !c.isJob(s.Name) {
			to = s.Name + ":" + c.ports("", s)[0]
		}
	}
	c.dropped = slices.DeleteFunc(c.dropped, func(d string) bool { return strings.HasPrefix(d, ".") })
	if to == "" {
		c.drop("load", "no service publishes a port: write to: SERVICE:PORT, or load: none")
		to = "SERVICE:80"
	}
	out.text("to", to)
	request := mapping().inline()
	request.text("path", "/")
	out.sub("request", request)
	closed := mapping().inline()
	closed.text("users", "64")
	out.sub("closed", closed)
	return out
}
