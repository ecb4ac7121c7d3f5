//go:build !race

package analysis

// simulationShare divides the number of data sets that are simulated.
const simulationShare = 1
