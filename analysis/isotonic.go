package analysis

// Isotonic gives the closest values to y that never fall, by weighted squares: pool
// adjacent violators (Barlow et al. 1972, section 1.2). ErrLengthMismatch; ErrBadParameter
// for a weight that is not above 0.
func Isotonic(y, weight []float64) ([]float64, error) {
	if len(y) != len(weight) {
		return nil, ErrLengthMismatch
	}
	if err := checkFinite(y, weight); err != nil {
		return nil, err
	}
	type block struct {
		mean, weight float64
		values       int
	}
	var blocks []block
	for i, v := range y {
		if weight[i] <= 0 {
			return nil, ErrBadParameter
		}
		b := block{v, weight[i], 1}
		for n := len(blocks); n > 0 && blocks[n-1].mean > b.mean; n-- {
			low := blocks[n-1]
			sum := low.weight + b.weight
			b = block{low.mean + (b.mean-low.mean)*(b.weight/sum), sum, low.values + b.values}
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	fit := make([]float64, 0, len(y))
	for _, b := range blocks {
		for range b.values {
			fit = append(fit, b.mean)
		}
	}
	return fit, nil
}

// Antitonic is Isotonic for values that never rise.
func Antitonic(y, weight []float64) ([]float64, error) {
	fit, err := Isotonic(negated(y), weight)
	return negated(fit), err
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// squaresApart is the weighted sum of the squares of the differences.
func squaresApart(a, b, weight []float64) float64 {
	var sum float64
	for i := range a {
		sum += weight[i] * (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}
