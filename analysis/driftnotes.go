package analysis

// noteDrift notes what goes with the rounds instead of the cells.
func (w *worker) noteDrift(a arranged) {}
