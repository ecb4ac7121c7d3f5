package experiment

// NamesCapacity reports whether the levels of a factor of this name bound how many
// requests are served at once, by the names that people give such factors: threads,
// workers, a pool.
func NamesCapacity(factor string) bool { return capacityName.MatchString(factor) }
