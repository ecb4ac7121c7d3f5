package experiment

import "strings"

// ImageFor is the entry of Images for an image that was made for another platform
// ("linux/arm64") than the host's: the identity, a blank, and the platform.
func ImageFor(id, platform string) string { return strings.TrimSpace(id + " " + platform) }

// SplitImage takes an entry of Images apart. The platform is empty where it is the
// host's own.
func SplitImage(entry string) (id, platform string) {
	id, platform, _ = strings.Cut(entry, " ")
	return id, platform
}
