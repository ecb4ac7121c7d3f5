package db

import (
	"context"
	"fmt"
)

// PeelChain gives the sweeps of the peel that a sweep belongs to, from the first to
// the newest; of several that follow one, the newest, unless the sweep itself comes by
// another. A sweep that was not peeled is a chain by itself.
func (r reading) PeelChain(ctx context.Context, sweep int64) ([]int64, error) {
	return r.ids(ctx, "peel_chain.sql", sweep)
}

// Children gives the sweeps that follow a sweep in a peel, the oldest first.
func (r reading) Children(ctx context.Context, sweep int64) ([]int64, error) {
	return r.ids(ctx, "children.sql", sweep)
}

func (r reading) ids(ctx context.Context, query string, sweep int64) ([]int64, error) {
	all, err := collect(ctx, r.pool, query, func(scan func(...any) error) (int64, error) {
		var id int64
		return id, scan(&id)
	}, sweep)
	if err != nil {
		return nil, fmt.Errorf("read peel of sweep %d: %w", sweep, err)
	}
	return all, nil
}
