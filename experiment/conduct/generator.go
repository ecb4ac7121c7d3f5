package conduct

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ceteris/ceteris/experiment"
)

// mostInEnv is the longest load that is handed over in a variable, in bytes: systems
// bound them to 128 KiB, all of them together to a little more.
const mostInEnv = 32 << 10

// generator describes the load generator as a service. Ceteris' own holds on after its
// result, until its counters are read and it is stopped.
func (s *sweep) generator(l experiment.Load) experiment.Service {
	if l.External != nil {
		return l.External.Service
	}
	spec, err := json.Marshal(l)
	if err != nil {
		panic("conduct: load: " + err.Error()) // a broken invariant: plain data only
	}
	svc := experiment.Service{
		Name: experiment.GeneratorName, Build: &s.Generator, Role: experiment.RoleLoad, Cores: s.placement.Load,
		Command: []experiment.Template{experiment.Literal("-hold"), experiment.Literal("1m")},
	}
	if files := int64(l.Descriptors()); files > experiment.OpenFiles {
		svc.Container.Ulimits = []experiment.UlimitValue{{Name: "nofile", Soft: files, Hard: files}}
	}
	value := experiment.Literal(string(spec))
	if len(spec) > mostInEnv {
		svc.Files = append(svc.Files, experiment.File{Path: experiment.LoadPath, Content: value})
		value = template("@${file:" + experiment.LoadPath + "}")
	}
	svc.Env = []experiment.EnvVar{{Name: experiment.GeneratorEnv, Value: value}}
	return svc
}

// withData gives the generator its copy of the data, if the load has any.
func withData(svc experiment.Service, data *experiment.DataFeed) (experiment.Service, error) {
	if data == nil {
		return svc, nil
	}
	b, err := os.ReadFile(data.File)
	if err != nil {
		return svc, fmt.Errorf("read the data of the load: %w", err)
	}
	if sum := sha256.Sum256(b); data.SHA256 != "" && hex.EncodeToString(sum[:]) != data.SHA256 {
		return svc, fmt.Errorf("read the data of the load: %s has changed since the sweep began", data.File)
	}
	svc.Files = append(svc.Files, experiment.File{Path: experiment.DataPath, Content: experiment.Literal(string(b))})
	svc.Env = append(svc.Env, experiment.EnvVar{Name: experiment.DataEnv, Value: template("${file:" + experiment.DataPath + "}")})
	return svc, nil
}

func template(text string) experiment.Template {
	t, err := experiment.ParseTemplate(text, experiment.Pos{})
	if err != nil {
		panic("conduct: " + err.Error()) // a broken invariant: the text is a constant
	}
	return t
}
