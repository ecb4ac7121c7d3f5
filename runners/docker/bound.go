package docker

import (
	"context"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// callTimeout bounds a question that an engine in its senses answers at once. One that
// hangs is noticed by it, where nothing else bounds the question.
const callTimeout = 30 * time.Second

// bounded is an engine whose short calls end in time, whatever the engine does. Those
// that stream, wait, build or remove have bounds of their own.
type bounded struct{ client.APIClient }

var _ client.APIClient = bounded{}

func call[T, O any](ctx context.Context, o O, within time.Duration, ask func(context.Context, O) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return ask(ctx, o)
}

// callOn is call for what has a name.
func callOn[T, O any](ctx context.Context, name string, o O, within time.Duration, ask func(context.Context, string, O) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return ask(ctx, name, o)
}

func (b bounded) Ping(ctx context.Context, o client.PingOptions) (client.PingResult, error) {
	return call(ctx, o, pingTimeout, b.APIClient.Ping)
}

func (b bounded) Info(ctx context.Context, o client.InfoOptions) (client.SystemInfoResult, error) {
	return call(ctx, o, callTimeout, b.APIClient.Info)
}

func (b bounded) ContainerList(ctx context.Context, o client.ContainerListOptions) (client.ContainerListResult, error) {
	return call(ctx, o, callTimeout, b.APIClient.ContainerList)
}

func (b bounded) NetworkList(ctx context.Context, o client.NetworkListOptions) (client.NetworkListResult, error) {
	return call(ctx, o, callTimeout, b.APIClient.NetworkList)
}

func (b bounded) VolumeList(ctx context.Context, o client.VolumeListOptions) (client.VolumeListResult, error) {
	return call(ctx, o, callTimeout, b.APIClient.VolumeList)
}

func (b bounded) ContainerInspect(ctx context.Context, id string, o client.ContainerInspectOptions) (client.ContainerInspectResult, error) {
	return callOn(ctx, id, o, callTimeout, b.APIClient.ContainerInspect)
}

func (b bounded) NetworkInspect(ctx context.Context, id string, o client.NetworkInspectOptions) (client.NetworkInspectResult, error) {
	return callOn(ctx, id, o, callTimeout, b.APIClient.NetworkInspect)
}

func (b bounded) ExecCreate(ctx context.Context, id string, o client.ExecCreateOptions) (client.ExecCreateResult, error) {
	return callOn(ctx, id, o, callTimeout, b.APIClient.ExecCreate)
}

func (b bounded) ExecInspect(ctx context.Context, id string, o client.ExecInspectOptions) (client.ExecInspectResult, error) {
	return callOn(ctx, id, o, callTimeout, b.APIClient.ExecInspect)
}

// startContainer bounds a start, which the library asks its own client for.
func startContainer(ctx context.Context, ctr testcontainers.Container) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	return ctr.Start(ctx)
}

// ContainerStop is bounded by the patience that it has itself, and a call's.
func (b bounded) ContainerStop(ctx context.Context, id string, o client.ContainerStopOptions) (client.ContainerStopResult, error) {
	within := callTimeout
	if o.Timeout != nil {
		within += time.Duration(*o.Timeout) * time.Second
	}
	return callOn(ctx, id, o, within, b.APIClient.ContainerStop)
}
