package analysis

// planningMethods computes the cases on numbers of rounds, stopping, resampling and
// components of variance.
func planningMethods() map[string]func(in values) (values, error) {
	return map[string]func(in values) (values, error){}
}
