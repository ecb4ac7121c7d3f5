package analysis_test

import (
	"fmt"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// Five rounds, each with the baseline and one changed setting: the level of the
// rounds differs by 15%, the ratio inside them hardly.
func ExampleCompare() {
	rounds := []int{1, 2, 3, 4, 5}
	baseline := analysis.Sample{Cell: "baseline", Rounds: rounds, Values: []float64{905.2, 981.7, 1043.9, 1012.4, 958.8}}
	changed := analysis.Sample{Cell: "gc=200", Rounds: rounds, Values: []float64{931.4, 1012.9, 1069.8, 1046.1, 984.3}}
	throughput, _ := experiment.MetricByName("throughput")

	c := analysis.Compare(baseline, changed, analysis.Options{Metric: throughput, Confidence: 0.95, MinimumEffect: 0.03})
	fmt.Printf("%.3f (%.3f to %.3f): %s, %s\n", *c.Estimate, *c.Low, *c.High, c.Verdict, c.Material)
	// Output: 1.029 (1.025 to 1.033): better, unproven
}

// Error rates are not ratios: a rate may be zero. Three failures in a thousand
// cannot be excluded after a thousand clean requests.
func ExampleProportionOf() {
	p, err := analysis.ProportionOf(0, 1000, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f%%, at most %.1f%%\n", 100*p.Value, 100*p.Upper)
	// Output: 0.0%, at most 0.3%
}
