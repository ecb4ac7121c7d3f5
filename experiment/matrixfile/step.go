package matrixfile

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func laterInSteps() []string {
	return words("in image file regex csv near unit better only")
}

func readyShape() shape {
	return shape{
		known: words("http port run log times has is json within"),
		later: laterInSteps(),
	}
}

func confirmShape() shape {
	return shape{
		known: words("http run has is json within"),
		later: append(words("at log delta keep scrape"), laterInSteps()...),
		never: map[string]string{
			"port":  "a port that answers confirms no setting (it may stand in ready)",
			"times": "it counts lines of a log (it may stand in ready)",
		},
	}
}

func (r *reader) ready(v *value) *experiment.Step {
	if v == nil {
		return nil
	}
	s := r.step(v, readyShape(), experiment.DefaultReadyWithin)
	return &s
}

func (r *reader) confirm(v *value) []experiment.Step {
	var out []experiment.Step
	for _, item := range r.items(v, `as in [{http: ":8080/config", json: {threads: .threads}, is: {threads: "${threads}"}}]`) {
		out = append(out, r.step(item, confirmShape(), experiment.DefaultConfirmWithin))
	}
	return out
}

func (r *reader) step(v *value, sh shape, within time.Duration) experiment.Step {
	o := r.object(v, sh)
	s := experiment.Step{
		At:     v.at,
		Run:    r.templates(o["run"], "as in [redis-cli, ping]"),
		HTTP:   r.template(o["http"], ""),
		Has:    r.template(o["has"], ""),
		Within: r.duration(o["within"], within),
		Times:  r.count(o["times"], 0, 1, 1_000_000),
		Port:   parsed(r, o["port"], 0, experiment.ParsePort),
	}
	s.Log, _ = r.plain(o["log"])
	if s.Within < time.Millisecond {
		r.faultAt(o["within"], "", "%q is shorter than 1ms", o["within"].text)
	}
	for _, f := range r.names(o["json"], "as in {threads: .threads}") {
		if path, ok := r.plain(f.value); ok {
			s.JSON = append(s.JSON, experiment.Extract{Name: f.name, Path: path})
		}
	}
	for _, f := range r.names(o["is"], `as in {threads: "${threads}"}`) {
		s.Is = append(s.Is, experiment.Expected{Name: f.name, Value: r.template(f.value, "")})
	}
	return s
}
