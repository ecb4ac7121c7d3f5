package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// The kinds of leftovers. Anonymous volumes go with their containers.
const (
	kindContainer = "container"
	kindNetwork   = "network"
	kindVolume    = "volume"
)

// Leftovers lists everything on the engine that carries an owner's label,
// containers before networks and volumes, in the order in which it can be removed. What
// belongs to an owner that lives is listed too.
func (r *Runner) Leftovers(ctx context.Context) ([]experiment.Leftover, error) {
	api, err := r.client()
	if err != nil {
		return nil, err
	}
	containers, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: labelled(LabelOwner, "")})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: labelled(LabelOwner, "")})
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	volumes, err := api.VolumeList(ctx, client.VolumeListOptions{Filters: labelled(LabelOwner, "")})
	if err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	var out []experiment.Leftover
	add := func(kind, id, name, owner string) {
		out = append(out, experiment.Leftover{Kind: kind, ID: id, Name: name, Owner: owner, Fate: experiment.FateOf(owner)})
	}
	for _, c := range containers.Items {
		name := short(c.ID)
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		add(kindContainer, c.ID, name, c.Labels[LabelOwner])
	}
	for _, n := range networks.Items {
		add(kindNetwork, n.ID, n.Name, n.Labels[LabelOwner])
	}
	for _, v := range volumes.Items {
		add(kindVolume, v.Name, v.Name, v.Labels[LabelOwner])
	}
	return out, nil
}

// Remove removes what belongs to a provably dead owner, and refuses the rest.
// What is gone already is no error.
func (r *Runner) Remove(ctx context.Context, l experiment.Leftover) error {
	api, err := r.client()
	if err != nil {
		return err
	}
	if fate := experiment.FateOf(l.Owner); fate != experiment.OwnerDead {
		return fmt.Errorf("remove %s %s: its owner is %s", l.Kind, l.Name, fate)
	}
	switch l.Kind {
	case kindContainer:
		return removeContainer(ctx, api, l.ID)
	case kindNetwork:
		return removeNetwork(ctx, api, l.ID)
	case kindVolume:
		return removeVolume(ctx, api, l.ID)
	default:
		return fmt.Errorf("remove %s %s: not of this runner", l.Kind, l.Name)
	}
}
