package analysis

// shapeMethods computes the cases on trends, changes, doses and interactions.
func shapeMethods() map[string]func(in values) (values, error) {
	return map[string]func(in values) (values, error){}
}
