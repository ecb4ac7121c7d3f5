package conduct

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestStartOrder(t *testing.T) {
	parse := func(s string) experiment.Template {
		p, err := experiment.ParseTemplate(s, experiment.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	app := experiment.Service{Name: "app", Needs: []string{"queue"}, Env: []experiment.EnvVar{{Name: "R", Value: parse("${addr:redis:6379}")}}}
	queue := experiment.Service{Name: "queue"}
	redis := experiment.Service{Name: "redis"}
	for _, tc := range []struct {
		name     string
		services []experiment.Service
		links    []experiment.Link
		want     []string
		err      string
	}{
		{"needs and addresses come first", []experiment.Service{app, redis, queue}, nil, []string{"queue", "redis", "app"}, ""},
		{"links too", []experiment.Service{queue, redis}, []experiment.Link{{From: "queue", To: "redis", Port: 1}}, []string{"redis", "queue"}, ""},
		{"declaration otherwise", []experiment.Service{redis, queue}, nil, []string{"redis", "queue"}, ""},
		{
			"a circle",
			[]experiment.Service{redis, queue},
			[]experiment.Link{{From: "queue", To: "redis"}, {From: "redis", To: "queue"}},
			nil,
			"services wait for one another: redis -> queue -> redis",
		},
		{"unknown", []experiment.Service{app}, nil, nil, "service queue is not declared"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := startOrder(tc.services, tc.links)
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Fatalf("got error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range got {
				names = append(names, s.Name)
			}
			if diff := cmp.Diff(names, tc.want); diff != "" {
				t.Errorf("order (-got +want):\n%s", diff)
			}
		})
	}
}
