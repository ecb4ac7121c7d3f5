package analysis

import "github.com/ceteris/ceteris/experiment"

// ladders adds what every ladder showed, over all its rounds.
func (w *worker) ladders(all []ladder) {
	for _, l := range all {
		w.out.Ladders = append(w.out.Ladders, l.climb().result(l.stage.state))
	}
}

// result puts a climb into the form of results.
func (c Climb) result(state string) experiment.LadderResult {
	out := experiment.LadderResult{Cell: c.Cell.Key, Tail: c.Tail, State: state}
	for _, r := range c.Rungs {
		out.Rungs = append(out.Rungs, experiment.RungResult{Cell: r.Cell.Key, N: r.N, Broken: r.Broken})
	}
	if !c.Known {
		return out
	}
	at := func(i int) experiment.CellKey {
		if i < 0 {
			return ""
		}
		return c.Rungs[i].Cell.Key
	}
	k := c.Ceiling
	out.Status = string(k.Status)
	out.Sustained, out.Broken, out.TailFirst, out.MedianFirst = at(k.Sustained), at(k.Broken), at(k.TailFirst), at(k.MedianFirst)
	if k.Status == LadderNotReached {
		out.Above = number(c.Rungs[k.Sustained].Offered)
	}
	return out
}
