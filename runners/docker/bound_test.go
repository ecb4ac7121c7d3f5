package docker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moby/moby/client"
)

// stuck is an engine that takes every call and answers none.
type stuck struct{ client.APIClient }

func (stuck) Ping(ctx context.Context, _ client.PingOptions) (client.PingResult, error) {
	<-ctx.Done()
	return client.PingResult{}, ctx.Err()
}

func (stuck) ContainerInspect(ctx context.Context, _ string, _ client.ContainerInspectOptions) (client.ContainerInspectResult, error) {
	<-ctx.Done()
	return client.ContainerInspectResult{}, ctx.Err()
}

func (stuck) ContainerStop(ctx context.Context, _ string, _ client.ContainerStopOptions) (client.ContainerStopResult, error) {
	<-ctx.Done()
	return client.ContainerStopResult{}, ctx.Err()
}

func TestEngineThatHangs(t *testing.T) {
	seconds := 20
	for _, tc := range []struct {
		name string
		ask  func(context.Context, client.APIClient) error
		want time.Duration
	}{
		{"a sign of life", func(ctx context.Context, c client.APIClient) error {
			_, err := c.Ping(ctx, client.PingOptions{})
			return err
		}, pingTimeout},
		{"a question", func(ctx context.Context, c client.APIClient) error {
			_, err := c.ContainerInspect(ctx, "x", client.ContainerInspectOptions{})
			return err
		}, callTimeout},
		{"an end that has time", func(ctx context.Context, c client.APIClient) error {
			_, err := c.ContainerStop(ctx, "x", client.ContainerStopOptions{Timeout: &seconds})
			return err
		}, callTimeout + 20*time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := tc.ask(t.Context(), bounded{stuck{}})
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != tc.want {
					t.Errorf("got %v after %v, want an end after %v", err, took, tc.want)
				}
			})
		})
	}
}
