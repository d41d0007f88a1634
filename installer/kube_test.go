package installer_test

import (
	"context"

	"slipway/installer"
)

func (k *kube) Masters(context.Context) ([]installer.Node, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]installer.Node{}, k.nodes...), k.err
}

func (k *kube) EventExists(_ context.Context, namespace, name string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.events[namespace+"/"+name], k.err
}

func (k *kube) set(change func(*kube)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k)
}
