//go:build race

package analysis

// simulationShare divides the number of data sets that are simulated: the race detector
// makes arithmetic slow.
const simulationShare = 4
