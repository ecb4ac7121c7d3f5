package experiment

import "testing"

func TestSuggest(t *testing.T) {
	known := []string{"env", "command", "ports", "ready", "confirm", "id"}
	for name, want := range map[string]string{
		"enviro": "env", "envs": "env", "comand": "command", "commnad": "command", "prots": "ports", "Ports": "ports",
		"image": "", "xyz": "", "": "", "conf": "confirm", "confirmation": "confirm", "x": "", "readyy": "ready",
	} {
		if got := Suggest(name, known); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}
