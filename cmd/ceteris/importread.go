package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load/reader"
)

// stdinName is the file name of standard input.
const stdinName = "-"

// Bounds of a file, in bytes: what is read at all, and what is kept with its run.
const (
	maxImport = 1 << 30
	maxKept   = 64 << 20
)

// read understands one file. Its artifact has no body where it is too large to be kept.
func (o importOptions) read(file string, stdin io.Reader) (report.ImportedFile, experiment.Artifact, error) {
	data, err := readWhole(file, stdin)
	if err != nil {
		return report.ImportedFile{}, experiment.Artifact{}, fileError(file, err)
	}
	sum := sha256.Sum256(data)
	out := report.ImportedFile{File: file, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Reader: o.reader, Skip: o.skip, Window: o.window}
	if out.Reader == "" {
		if out.Reader, err = detect(reader.All(), data); err != nil {
			return out, experiment.Artifact{}, fileError(file, err)
		}
		out.Detected = true
	}
	out.Result, err = o.cut(reader.All()[out.Reader], data)
	switch {
	case errors.Is(err, experiment.ErrIncomplete):
		out.Incomplete = err.Error()
		if !o.incomplete && !o.dryRun {
			return out, experiment.Artifact{}, fileError(file, experiment.WithHint(err, "--incomplete keeps it as an invalid run"))
		}
	case err != nil:
		return out, experiment.Artifact{}, fileError(file, err)
	}
	artifact := experiment.Artifact{Service: experiment.GeneratorName, Name: filepath.Base(file), Body: data, Full: int64(len(data))}
	if file == stdinName {
		artifact.Name = "stdin"
	}
	if len(data) > maxKept {
		artifact.Body = nil
	}
	return out, artifact, nil
}

// readWhole reads a file, which must not be one that never ends.
func readWhole(file string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if file != stdinName {
		if err := checkRegular(file); err != nil {
			return nil, withoutPath(err)
		}
		f, err := os.Open(file)
		if err != nil {
			return nil, withoutPath(err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	if err == nil && len(data) > maxImport {
		err = fmt.Errorf("it is larger than %d bytes", maxImport)
	}
	return data, err
}

// withoutPath takes the path off an error of the file system: it is named already.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// cut reads an output without the requests that began before --skip or after --window,
// of which the first count where their responses come inside. Both run from the first
// request, which is to be found first.
func (o importOptions) cut(r experiment.OutputReader, data []byte) (experiment.LoadResult, error) {
	whole, err := r.ReadOutput(bytes.NewReader(data), experiment.Span{})
	if o.skip == 0 && o.window == 0 || err != nil {
		return whole, err
	}
	if whole.Begin.IsZero() {
		return whole, experiment.WithHint(errors.New("it does not tell when its requests began, so that nothing can be cut off"), "leave out --skip and --window")
	}
	span := experiment.Span{Begin: whole.Begin.Add(o.skip)}
	if o.window > 0 {
		span.End = span.Begin.Add(o.window)
	}
	if end := whole.Begin.Add(whole.Window); !span.Begin.Before(end) || span.End.After(end) {
		return whole, fmt.Errorf("--skip and --window reach beyond its end: it tells of %s", report.Duration(whole.Window))
	}
	return r.ReadOutput(bytes.NewReader(data), span)
}

// detect finds the reader that takes an output for that of its tool; one that was cut
// off is believed where nobody takes it for whole.
func detect(all map[string]experiment.OutputReader, data []byte) (string, error) {
	if len(data) == 0 {
		return "", fmt.Errorf("%w: it is empty", experiment.ErrIncomplete)
	}
	var whole, partly []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, err := all[name].ReadOutput(bytes.NewReader(data), experiment.Span{})
		switch {
		case err == nil:
			whole = append(whole, name)
		case errors.Is(err, experiment.ErrIncomplete):
			partly = append(partly, name)
		}
	}
	if len(whole) == 0 {
		whole = partly
	}
	switch len(whole) {
	case 1:
		return whole[0], nil
	case 0:
		return "", experiment.WithHint(errors.New("no reader knows it"), "--reader TOOL says what is wrong with it: "+strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	default:
		return "", experiment.WithHint(fmt.Errorf("it may be of %s", strings.Join(whole, " or ")), "say which by --reader")
	}
}
