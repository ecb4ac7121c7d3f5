package matrixfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

//go:generate go test -run ^TestSchemaFile$ -update .

// Schema gives the JSON schema (draft 2020-12) of a matrix file, for editors. It is made
// from the tables by which the reader knows fields, not from the types of the
// vocabulary: those are what a file means, with one form where a file has two. It says
// which fields there are and of which kind; what fits together only Load knows.
func Schema() ([]byte, error) {
	b := &schemaBuilder{}
	root := b.matrix()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "ceteris matrix"
	root["$defs"] = map[string]any{
		"text":     schema{"type": []string{"string", "number", "boolean"}},
		"settings": mapOf(levelNameSchema()),
		"only":     mapOf(anyOf(levelNameSchema(), listOf(levelNameSchema()))),
		"service":  b.service(),
		"load":     anyOf(enum(noLoad), b.load(), b.external()),
		"links":    listOf(b.object(linkShape(), words("from to"), nil)),
		"closed":   b.object(closedShape(), words("users"), nil),
		"open":     b.object(openShape(), words("rate"), fields{"arrivals": enum(arrivals()...), "when_full": enum(whenFull()...), "catch_up": enum(catchUps()...)}),
		"prepare":  listOf(b.step(prepareShape(), nil)),
		"confirm":  listOf(b.step(confirmShape(), fields{"at": enum(experiment.ConfirmBefore, experiment.ConfirmAfter)})),
		"collect":  listOf(b.collect()),
		"ready":    b.step(readyShape(), nil),
		"build":    b.object(buildShape(), nil, fields{"args": mapOf(textSchema()), "before": listOf(textSchema())}),
		"limits":   b.object(limitsShape(), nil, nil),
	}
	if b.err != nil {
		return nil, b.err
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(out, '\n'), nil
}

type schema map[string]any

// fields are the schemas of the fields of an object that are no plain text.
type fields map[string]schema

// schemaBuilder keeps the first table that does not fit its object.
type schemaBuilder struct{ err error }

func textSchema() schema        { return ref("text") }
func ref(name string) schema    { return schema{"$ref": "#/$defs/" + name} }
func listOf(item schema) schema { return schema{"type": "array", "items": item} }
func mapOf(item schema) schema {
	return schema{"type": "object", "additionalProperties": item}
}
func anyOf(all ...schema) schema    { return schema{"anyOf": all} }
func enum(all ...string) schema     { return schema{"enum": all} }
func truth() schema                 { return schema{"enum": []any{true, false, "true", "false"}} }
func levelNameSchema() schema       { return anyOf(textSchema(), schema{"type": "null"}) }
func textOr(other ...schema) schema { return anyOf(append([]schema{textSchema()}, other...)...) }
func oneOrList(item schema) schema  { return anyOf(item, listOf(item)) }

// object makes the schema of an object from its table: nothing but the known fields,
// each a plain text unless said otherwise.
func (b *schemaBuilder) object(s shape, required []string, other fields) schema {
	properties := map[string]any{}
	for _, name := range s.known {
		properties[name] = textSchema()
	}
	for name, one := range other {
		if !slices.Contains(s.known, name) && b.err == nil {
			b.err = fmt.Errorf("the schema has the field %s, and the reader does not", name)
		}
		properties[name] = one
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	return out
}

func (b *schemaBuilder) matrix() schema {
	return b.describe(b.object(matrixShape(), words("name subject load"), fields{
		"runner":       enum(experiment.RunnerAuto, experiment.RunnerDocker, experiment.RunnerProcess),
		"subject":      b.object(subjectShape(), words("services"), fields{"services": mapOf(ref("service")), "links": ref("links")}),
		"factors":      mapOf(b.factor()),
		"sweep":        enum(string(experiment.OneAtATime), string(experiment.Grid), string(experiment.ChosenCells)),
		"control":      truth(),
		"cells":        listOf(ref("settings")),
		"except":       listOf(ref("settings")),
		"interactions": listOf(listOf(textSchema())),
		"stages":       listOf(b.object(stageShape(), words("name"), fields{"baseline": ref("settings")})),
		"across":       listOf(textSchema()),
		"load":         ref("load"),
		"prepare":      ref("prepare"),
		"collect":      ref("collect"),
		"metrics":      mapOf(b.measured(derivedShape())),
		"place":        b.object(placeShape(), nil, nil),
		"repeat":       b.describe(b.object(repeatShape(), nil, fields{"until": enum(stopRules()...)}), repeatTexts()),
		"judge":        b.judge(),
		"requires":     b.object(requiresShape(), nil, nil),
		"on_finish":    listOf(textSchema()),
	}), matrixTexts())
}

func (b *schemaBuilder) judge() schema {
	guards := map[string]any{}
	for code, movable := range GuardCodes() {
		guard := enum("off")
		if movable {
			guard = anyOf(guard, b.object(guardShape(), words("above"), nil))
		}
		guards[code] = guard
	}
	return b.object(judgeShape(), nil, fields{
		"guards": {"type": "object", "properties": guards, "additionalProperties": false},
	})
}

func (b *schemaBuilder) factor() schema {
	overlay := b.object(overlayShape(), nil, fields{
		"services": {"type": "object"}, "links": ref("links"), "load": {"type": []string{"object", "string"}},
	})
	level := anyOf(levelNameSchema(), b.object(levelShape(), words("name"), fields{"is": mapOf(textSchema()), "set": overlay}))
	return anyOf(listOf(level), b.object(factorShape(), words("levels"), fields{
		"levels": listOf(level), "baseline": levelNameSchema(), "only": ref("only"),
	}))
}

func (b *schemaBuilder) service() schema {
	port := schema{"type": []string{"integer", "string"}}
	scrape := b.object(scrapeShape(), words("url metrics"), fields{
		"metrics": anyOf(listOf(textSchema()), mapOf(textOr(b.measured(scrapedShape())))),
	})
	return b.describe(b.object(serviceShape(), nil, fields{
		"build": ref("build"), "command": listOf(textSchema()), "env": mapOf(textSchema()), "files": mapOf(textSchema()),
		"ports": listOf(port), "needs": listOf(textSchema()), "ready": ref("ready"), "limits": ref("limits"),
		"role":      enum(string(experiment.RoleSubject), string(experiment.RoleBacking)),
		"container": b.container(),
		"mounts":    listOf(textSchema()),
		"volumes":   listOf(textSchema()),
		"process": b.object(processShape(), nil, fields{
			"build": ref("build"), "command": listOf(textSchema()), "env": mapOf(textSchema()), "files": mapOf(textSchema()),
			"ready": ref("ready"), "confirm": ref("confirm"), "limits": ref("limits"),
		}),
		"only": ref("only"),
		"job":  anyOf(truth(), b.object(jobShape(), words("within"), nil)),
		"prepare": anyOf(ref("prepare"), b.object(preparationShape(), words("steps"), fields{
			"steps": ref("prepare"), "snapshot": truth(),
		})),
		"confirm": ref("confirm"),
		"collect": ref("collect"),
		"scrape":  oneOrList(scrape),
	}), serviceTexts())
}

func (b *schemaBuilder) container() schema {
	return b.object(containerShape(), nil, fields{
		"tmpfs": listOf(textSchema()), "cap_add": listOf(textSchema()), "sysctls": mapOf(textSchema()),
		"ulimits": mapOf(textOr(b.object(ulimitShape(), words("soft hard"), nil))),
	})
}

// step makes the schema of a step from the table of its purpose.
func (b *schemaBuilder) step(s shape, other fields) schema {
	all := fields{}
	for name, one := range (fields{
		"run": listOf(textSchema()), "json": mapOf(textSchema()), "csv": mapOf(textSchema()), "only": ref("only"),
		"is": mapOf(textSchema()), "near": mapOf(textSchema()),
	}) {
		if slices.Contains(s.known, name) {
			all[name] = one
		}
	}
	maps.Copy(all, other)
	return b.object(s, nil, all)
}

func (b *schemaBuilder) collect() schema {
	return b.step(collectShape(), fields{
		"at": oneOrList(enum(moments()...)), "delta": listOf(textSchema()),
		"unit": enum(baseUnits()...), "better": enum(directions()...),
	})
}

// measured is what a metric is made of, with its unit and direction.
func (b *schemaBuilder) measured(s shape) schema {
	return b.object(s, words("of"), fields{"unit": enum(baseUnits()...), "better": enum(directions()...)})
}

func (b *schemaBuilder) load() schema {
	request := b.object(requestShape(), words("path"), fields{
		"method": enum(methods()...), "headers": mapOf(textSchema()),
		"expect": b.object(expectShape(), nil, fields{"status": listOf(textSchema())}),
		"slo":    b.object(sloShape(), nil, nil),
	})
	return b.describe(b.object(loadShape(), words("to"), fields{
		"request": request, "requests": listOf(request), "data": b.object(dataShape(), words("file"), nil),
		"closed": ref("closed"), "open": ref("open"),
		"streams": listOf(b.object(streamShape(), words("after open"), fields{"open": ref("open")})),
		"phases": listOf(b.object(phaseShape(), words("name"), fields{
			"closed": ref("closed"), "open": ref("open"), "idle": truth(), "measure": truth(),
		})),
		"warmup":     textOr(b.object(warmupShape(), words("until"), fields{"until": enum(experiment.WarmupSteady)})),
		"measure":    textOr(b.object(measureShape(), words("requests"), nil)),
		"keep_alive": truth(),
		"tls":        anyOf(truth(), b.object(tlsShape(), nil, fields{"skip_verify": truth()})),
		"http":       schema{"enum": []any{http1, http2, 1.1, 2}},
	}), loadTexts())
}

// external is the load of a generator of others.
func (b *schemaBuilder) external() schema {
	program := func() fields {
		return fields{
			"build": ref("build"), "command": listOf(textSchema()), "env": mapOf(textSchema()), "files": mapOf(textSchema()), "limits": ref("limits"),
		}
	}
	all := program()
	maps.Copy(all, fields{
		"container": b.container(), "mounts": listOf(textSchema()),
		"process": b.object(externalProcessShape(), nil, program()),
		"reader":  enum(experiment.OutputReaders()...),
		"extract": oneOrList(b.object(extractShape(), nil, fields{
			"json": mapOf(textSchema()), "csv": mapOf(textSchema()), "unit": enum(baseUnits()...), "better": enum(directions()...),
		})),
	})
	return b.describe(b.object(externalShape(), nil, all), externalTexts())
}
