//go:build !unix

package load

// descriptorLimit cannot be told here.
func descriptorLimit() (limit uint64, known bool) { return 0, false }
