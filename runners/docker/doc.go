// Package docker runs services as containers of a Docker engine.
//
// Vocabulary: an environment is a bridge network of its own with the containers
// of one run on it; everything in it carries the labels ceteris.owner,
// ceteris.sweep, ceteris.run and ceteris.env. A container is reached directly
// when the network's gateway is an interface of this host (a local Linux
// engine); then nothing is published. Otherwise its declared ports are published
// on 127.0.0.1.
//
// Containers are made by testcontainers-go; networks, counters, logs, waiting and
// removal use the client of its provider. The library's reaper is switched off:
// what an owner left behind is found by label.
//
// Files are copied into a container before it starts. Named volumes belong to the
// run and go with it; a copy of them is taken and brought back through a container that
// never starts. Dockerfiles are built by the engine's first builder, once in the life of
// a Runner, and stay as images.
//
// The log of each container (json-file, blocking) is rotated at 1 GiB; what was written
// in a window of which lines are gone by then is not known. See MostLog.
//
// It does not order services, resolve addresses between them or decide where
// they are pinned, and no load goes through a published port.
package docker
