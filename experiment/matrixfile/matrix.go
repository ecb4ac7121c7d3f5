package matrixfile

import (
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const hostTuning = "ceteris leaves the host as it is, and reports what disturbs"

func matrixShape() shape {
	return shape{
		known: words("name question runner subject factors sweep control cells except interactions stages across " +
			"load prepare collect metrics place repeat judge requires on_finish"),
		never: map[string]string{"host": hostTuning, "tune": hostTuning, "tuning": hostTuning, "sysctls": hostTuning},
	}
}

// matrix reads a whole matrix, as far as it can be read, and fills in defaults.
func (r *reader) matrix(v *value) *experiment.Matrix {
	o := r.object(v, matrixShape())
	r.require(v, o, "name", "subject", "load")
	m := &experiment.Matrix{}
	m.Name, _ = r.plain(o["name"])
	m.Question, _ = r.text(o["question"])
	m.Runner = r.oneOf(o["runner"], experiment.RunnerAuto, words("auto docker process"), words("swarm"))
	m.Factors = r.factors(o["factors"])
	m.Design = r.design(o)
	m.Control = r.boolean(o["control"], true)
	m.Subject, m.Load = r.system(o["subject"], o["load"])
	m.Prepare = r.steps(o["prepare"], prepareShape(), experiment.DefaultJobWithin)
	m.Collect = r.collect(o["collect"])
	m.Metrics = r.derived(o["metrics"])
	m.Requires = r.requires(o["requires"])
	for _, item := range r.items(o["on_finish"], "as in [notify-send, done]") {
		text, _ := r.plain(item)
		m.OnFinish = append(m.OnFinish, text)
	}
	if v := o["on_finish"]; v != nil && v.kind == list && (len(m.OnFinish) == 0 || strings.TrimSpace(m.OnFinish[0]) == "") {
		r.faultAt(v, "as in [notify-send, done]", "names no command")
	}
	m.Place = r.placement(o["place"])
	m.Repeat = r.repeat(o["repeat"])
	m.Judge = r.judge(o["judge"], m.Load)
	m.Judge.Objectives = r.objectives(o["load"], m.Load)
	m.Variants = r.variants(o["subject"], o["load"], m)
	return m
}

// system reads subject and load as they are in some cells, and fills in roles.
func (r *reader) system(subject, load *value) (experiment.Subject, experiment.LoadSpec) {
	s, l := r.subject(subject), r.load(load)
	for i := range s.Services {
		if s.Services[i].Role == "" {
			s.Services[i].Role = experiment.RoleBacking
			if s.Services[i].Name == l.Service {
				s.Services[i].Role = experiment.RoleSubject
			}
		}
	}
	return s, l
}

func requiresShape() shape { return shape{known: words("cores memory")} }

func (r *reader) requires(v *value) experiment.Requires {
	o := r.object(v, requiresShape())
	return experiment.Requires{
		Cores:  r.count(o["cores"], 0, 1, 4096),
		Memory: parsed(r, o["memory"], 0, experiment.ParseSize),
	}
}
