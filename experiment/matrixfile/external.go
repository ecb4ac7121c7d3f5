package matrixfile

import (
	"path"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// externalKeys are the fields of a load that a load generator of others has.
const externalKeys = programKeys + " process reader extract output within"

// programKeys say what is started.
const programKeys = "image build command env files limits container mounts"

func externalShape() shape {
	s := shape{known: words("to warmup measure " + externalKeys), never: map[string]string{}}
	for _, name := range words(shapeKeys) {
		s.never[name] = "the command of another load generator says what is sent, and how"
	}
	return s
}

func externalProcessShape() shape { return shape{known: words("build command env files limits")} }

// isExternal reports whether a load is driven by a generator of others.
func isExternal(v *value) bool { return slices.ContainsFunc(words(externalKeys), v.has) }

// external reads a load generator of others.
func (r *reader) external(v *value) experiment.LoadSpec {
	o, l := r.object(v, externalShape()), experiment.LoadSpec{At: v.at}
	l.Service, l.Port = r.address(o["to"])
	l.Warmup.For = r.length(o["warmup"], experiment.DefaultRamp)
	l.Measure.For = r.length(o["measure"], "")
	s := r.program(o)
	s.Name, s.Role, s.At = experiment.GeneratorName, experiment.RoleLoad, v.at
	s.Process = r.process(o["process"], externalProcessShape())
	s.Output = r.output(o["output"])
	x := &experiment.ExternalSpec{Service: s, Within: r.template(o["within"], ""), Extract: r.taking(o["extract"])}
	x.Reader, _ = r.plain(o["reader"])
	l.External = x
	return l
}

// length reads a part of the time in which a generator of others works.
func (r *reader) length(v *value, otherwise string) experiment.Template {
	if v != nil && v.kind == mapping {
		r.faultAt(v, "as in 5s", "only ceteris' own generator tells when that is")
		return experiment.Literal(otherwise)
	}
	return r.template(v, otherwise)
}

// output reads the path of the file that holds the result.
func (r *reader) output(v *value) string {
	p := r.path(v, "as in /tmp/result.json")
	if p != "" && !path.IsAbs(p) {
		r.faultAt(v, "as in /tmp/result.json", "%q is no absolute path inside the generator", p)
		return ""
	}
	return p
}

func extractShape() shape { return shape{known: words("regex json csv unit better")} }

// taking reads one way of taking values out of the result, or a list of them.
func (r *reader) taking(v *value) []experiment.Step {
	if v == nil {
		return nil
	}
	items := []*value{v}
	if v.kind == list {
		items = v.items
	}
	if len(items) == 0 {
		r.faultAt(v, "as in {json: {throughput: .rate}}", "takes no value")
	}
	var out []experiment.Step
	for _, item := range items {
		o := r.object(item, extractShape())
		s := experiment.Step{
			At: item.at, JSON: r.extracts(o["json"], "as in {throughput: .rate}"), CSV: r.extracts(o["csv"], "as in {throughput: rate}"),
			Unit: r.unit(o["unit"]), Better: r.better(o["better"]),
		}
		s.Regex, _ = r.plain(o["regex"])
		out = append(out, s)
	}
	return out
}
