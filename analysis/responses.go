package analysis

// responses adds how metrics answer to numeric factors.
func (w *worker) responses(a arranged) {}
