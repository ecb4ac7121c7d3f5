package analysis

import "gonum.org/v1/gonum/stat"

// noisyFactor is how many times the median residual sum of squares a cell's own
// must exceed for it to be named noisy.
const noisyFactor = 10

// additiveFit is the least-squares fit y = round + cell of a complete table.
type additiveFit struct {
	df  int       // (cells-1)(rounds-1)
	mse float64   // residual variance
	rss []float64 // residual sum of squares of each cell
}

// fitAdditive fits cells, each with one value a round, in the same rounds.
func fitAdditive(cells [][]float64) additiveFit {
	rounds := len(cells[0])
	roundMean := make([]float64, rounds)
	var grand float64
	for _, c := range cells {
		for r, v := range c {
			roundMean[r] += v / float64(len(cells))
		}
		grand += stat.Mean(c, nil) / float64(len(cells))
	}
	f := additiveFit{df: (len(cells) - 1) * (rounds - 1), rss: make([]float64, len(cells))}
	var sum float64
	for i, c := range cells {
		mean := stat.Mean(c, nil)
		for r, v := range c {
			e := v - roundMean[r] - mean + grand
			f.rss[i] += e * e
		}
		sum += f.rss[i]
	}
	f.mse = sum / float64(f.df)
	return f
}

// noisy gives the positions of cells whose own variance stands far above the
// others' (from 3 cells on): one such cell widens every interval.
func (f additiveFit) noisy() []int {
	if len(f.rss) < 3 {
		return nil
	}
	limit := noisyFactor * median(f.rss)
	var out []int
	for i, v := range f.rss {
		if v > limit {
			out = append(out, i)
		}
	}
	return out
}
