package analysis

import "slices"

// HodgesLehmann gives the median of the Walsh averages (the means of all pairs,
// each value with itself included) with its exact interval from the signed-rank
// distribution (Hodges and Lehmann 1963). ErrBadParameter above 60 values.
func HodgesLehmann(x []float64, confidence float64) (RankInterval, error) {
	if err := checkConfidence(confidence); err != nil {
		return RankInterval{}, err
	}
	if err := checkFinite(x); err != nil {
		return RankInterval{}, err
	}
	if len(x) > exactLimit {
		return RankInterval{}, ErrBadParameter
	}
	w := walshAverages(x)
	slices.Sort(w)
	r := rankInterval(w, confidence, cumulative(signedSums(wholeRanks(len(x)))))
	r.Value = median(w)
	return r, nil
}

// HodgesLehmannShift gives the median of all differences, treatment minus
// baseline, with its exact interval from the Mann-Whitney distribution without
// ties; with ties it is conservative. On logs it is a ratio. ErrBadParameter
// above 60 values together.
func HodgesLehmannShift(baseline, treatment []float64, confidence float64) (RankInterval, error) {
	if err := checkConfidence(confidence); err != nil {
		return RankInterval{}, err
	}
	if err := checkFinite(baseline, treatment); err != nil {
		return RankInterval{}, err
	}
	n, m := len(baseline), len(treatment)
	if n+m > exactLimit {
		return RankInterval{}, ErrBadParameter
	}
	d := allDifferences(baseline, treatment)
	slices.Sort(d)
	least := m * (m + 1) / 2
	r := rankInterval(d, confidence, cumulative(subsetSums(wholeRanks(n+m), m)[least:]))
	r.Value = median(d)
	return r, nil
}

func walshAverages(x []float64) []float64 {
	out := make([]float64, 0, len(x)*(len(x)+1)/2)
	for i := range x {
		for j := i; j < len(x); j++ {
			out = append(out, x[i]/2+x[j]/2)
		}
	}
	return out
}

func allDifferences(baseline, treatment []float64) []float64 {
	out := make([]float64, 0, len(baseline)*len(treatment))
	for _, a := range baseline {
		for _, b := range treatment {
			out = append(out, b-a)
		}
	}
	return out
}

func wholeRanks(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// cumulative gives the distribution function of chances of 0, 1, 2, ...
func cumulative(chance []float64) func(k int) float64 {
	sum := slices.Clone(chance)
	for i := 1; i < len(sum); i++ {
		sum[i] += sum[i-1]
	}
	return func(k int) float64 { return sum[min(k, len(sum)-1)] }
}
