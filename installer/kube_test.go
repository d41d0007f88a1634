package installer_test

import (
	"context"
	"errors"

	"slipway/installer"
)

func (k *kube) Masters(ctx context.Context) ([]installer.Node, error) {
	if err := k.answer(ctx); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]installer.Node{}, k.nodes...), k.err
}

func (k *kube) EventExists(ctx context.Context, namespace, name string) (bool, error) {
	if err := k.answer(ctx); err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.events[namespace+"/"+name], k.err
}

func (k *kube) MachineConfigExists(ctx context.Context, name string) (bool, error) {
	if err := k.answer(ctx); err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.unrendered[name], errors.Join(k.err, k.readErr)
}

func (k *kube) Initialize(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := range k.nodes {
		if k.nodes[n].Name == name {
			k.nodes[n].Uninitialized = false
		}
	}
	k.initialized = append(k.initialized, name)
	return k.err
}

func (k *kube) set(change func(*kube)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k)
}

// answer waits until the API answers, at once unless it is held.
func (k *kube) answer(ctx context.Context) error {
	if k.held == nil {
		return nil
	}
	k.calls.Add(1)
	defer k.calls.Add(-1)
	select {
	case <-k.held:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
