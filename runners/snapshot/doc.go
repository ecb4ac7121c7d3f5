// Package snapshot keeps the volumes of services as they were after their preparation,
// so that later runs need not prepare them again.
//
// A snapshot is a file of any form, usually a tar stream, under a key, usually the hash
// of everything that it depends on: the same key always means the same content. The
// store is a directory in the user's cache. It is bounded: what was used least recently
// makes room. Several ceteris may use it at once, and one that is killed leaves nothing
// that the next one does not remove.
//
// It does not know what a snapshot holds or depends on.
package snapshot
