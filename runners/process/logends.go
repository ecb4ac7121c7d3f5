package process

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ceteris/ceteris/experiment"
)

var _ experiment.LogEnder = (*proc)(nil)

// LogEnds implements experiment.LogEnder. Of a generator standard output comes first.
func (p *proc) LogEnds(_ context.Context, most int64) (experiment.LogEnds, error) {
	var e experiment.LogEnds
	sizes := make([]int64, len(p.files.paths))
	for i, path := range p.files.paths {
		info, err := os.Stat(path)
		if err != nil {
			return e, fmt.Errorf("read output of service %s: %w", p.service.Name, err)
		}
		sizes[i] = info.Size()
		e.Full += sizes[i]
	}
	head := min(most, e.Full)
	tail := max(e.Full-most, head)
	e.Cut = tail > head
	var err error
	if e.Head, err = p.files.part(sizes, 0, head); err == nil {
		e.Tail, err = p.files.part(sizes, tail, e.Full)
	}
	if err != nil {
		return experiment.LogEnds{}, fmt.Errorf("read output of service %s: %w", p.service.Name, err)
	}
	return e, nil
}

// part reads from one place to another of the files as if they were one.
func (o *outputs) part(sizes []int64, from, to int64) ([]byte, error) {
	var all []byte
	for i, path := range o.paths {
		a, b := max(from, 0), min(to, sizes[i])
		from, to = from-sizes[i], to-sizes[i]
		if a >= b {
			continue
		}
		some, err := readPart(path, a, b)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func readPart(path string, from, to int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, to-from))
}
