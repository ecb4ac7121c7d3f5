package matrixfile

import "fmt"

// describe puts a text beside fields of an object, for who hovers over them. Where a
// field is a reference the text stands beside that.
func (b *schemaBuilder) describe(object schema, texts map[string]string) schema {
	properties, _ := object["properties"].(map[string]any)
	for name, text := range texts {
		field, ok := properties[name].(schema)
		if !ok {
			if b.err == nil {
				b.err = fmt.Errorf("the schema describes the field %s, and the reader does not know it", name)
			}
			continue
		}
		field["description"] = text
	}
	return object
}

func matrixTexts() map[string]string {
	return map[string]string{
		"name":         "names the sweep in lists and reports",
		"question":     "what the sweep is to answer",
		"runner":       "what starts services: containers, processes, or what is there (auto)",
		"subject":      "the system under test: services and the links between them",
		"factors":      "the settings to vary; the first level is the baseline unless baseline names another",
		"sweep":        "one-at-a-time (default), every combination (grid), or the chosen cells only",
		"control":      "run a second copy of the baseline (default true)",
		"cells":        "cells that are chosen; factors that are not named are at the baseline",
		"except":       "combinations that are left out",
		"interactions": "groups of factors whose corners are run as well",
		"stages":       "sweeps around moved baselines, one after another",
		"across":       "factors that are conditions: every cell is run at each of their levels",
		"load":         "what is sent, at whom, how fast and how long; or none",
		"prepare":      "done when all services are ready, before the load",
		"collect":      "steps that bring metrics or keep artifacts",
		"metrics":      "metrics made from others, as in delta(app.hits) / delta(app.gets)",
		"place":        "core sets for each role, or auto",
		"repeat":       "how many rounds, or until when, and the seed of their order",
		"judge":        "the metric that is compared, and by what rule",
		"requires":     "hosts that have less are refused",
		"on_finish":    "command that is run when an invocation has ended",
	}
}

func repeatTexts() map[string]string {
	return map[string]string{
		"rounds":  "a fixed number (default 5)",
		"until":   "instead: intervals of the primary metric are narrow enough (precise), or none of its verdicts is inconclusive (decided)",
		"within":  "half-width that is precise (default: the minimum effect)",
		"at_most": "rounds that are enough whatever they show (default 30)",
		"seed":    "decides every order and every draw (default 1)",
	}
}

func serviceTexts() map[string]string {
	return map[string]string{
		"image":     "image of a container",
		"build":     "built once a sweep: a Go package (go), or a Dockerfile's context",
		"files":     "files by absolute path; ${file:PATH} gives their place under every runner",
		"ports":     "ports that the service listens on; nothing is published",
		"needs":     "services that must be ready first",
		"ready":     "what is waited for before dependants start (within 60s)",
		"limits":    "cpus, memory, pids",
		"role":      "decides where it is pinned and whose processors count",
		"container": "what only containers have, by compose's names",
		"mounts":    "HOST:/PATH[:ro], relative to the matrix; they survive runs",
		"volumes":   "NAME:/PATH[:ro]; they live for one run",
		"process":   "what the process runner takes instead",
		"only":      "exists only in cells with these levels",
		"job":       "must end with 0 before its dependants start",
		"replicas":  "copies behind one name",
		"prepare":   "done when the service is ready, before its dependants start",
		"confirm":   "proves that the setting arrived",
		"collect":   "steps that bring metrics or keep artifacts",
		"scrape":    "pages in the Prometheus text format",
	}
}

func loadTexts() map[string]string {
	return map[string]string{
		"to":          "SERVICE:PORT",
		"data":        "CSV file with a header row, read as ${data:COLUMN}",
		"closed":      "a fixed number of users, each waiting for its response",
		"open":        "arrivals at a rate, whatever the responses",
		"streams":     "more arrivals, from a time on",
		"phases":      "parts with shapes and metrics of their own",
		"ramp":        "time in which the load rises (default 0s)",
		"warmup":      "time before the window (default 5s), or {until: steady}",
		"measure":     "length of the window (default 20s), or {requests: n}",
		"timeout":     "of a request (default 10s)",
		"connections": "default: users, or in_flight",
		"keep_alive":  "default true",
		"tls":         "true, or how the server's certificate is checked",
		"http":        "version of HTTP (default 1.1)",
	}
}

func externalTexts() map[string]string {
	return map[string]string{
		"to":        "SERVICE:PORT, which makes it the subject",
		"image":     "image of another load generator, which is written like a service",
		"build":     "built once a sweep: a Go package (go), or a Dockerfile's context",
		"command":   "its arguments; ${addr:SERVICE:PORT} is the target",
		"files":     "files by absolute path; ${file:PATH} gives their place under every runner",
		"limits":    "cpus, memory, pids",
		"container": "what only containers have, by compose's names",
		"mounts":    "HOST:/PATH[:ro], relative to the matrix; they survive runs",
		"process":   "what the process runner takes instead",
		"reader":    "the tool whose output is read",
		"extract":   "values that are taken out of an output that no reader knows",
		"output":    "file that holds the result, by absolute path (default: its standard output)",
		"within":    "it must have ended by then (default 10m beside warm-up and window)",
		"warmup":    "time from its launch to the window (default 0s)",
		"measure":   "length of the window (default: to its end)",
	}
}
