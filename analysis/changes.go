package analysis

// changes adds how effects differ between the places of a sweep.
func (w *worker) changes(a arranged) {}
