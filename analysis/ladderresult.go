package analysis

// ladders adds what every ladder showed.
func (w *worker) ladders(all []ladder) {}
