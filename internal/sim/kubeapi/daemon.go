package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// configState is how far the machine config daemon is with the config of its node.
const configState = "machineconfiguration.openshift.io/state"

// runDaemon plays the machine config daemon of a ready node: the node has its config, which the daemon first finds to be
// the desired one and then reports as done, one step at each look (openshift/machine-config-operator,
// pkg/daemon/constants). It reports whether that is done.
func (k *kubelet) runDaemon(ctx context.Context, node *corev1.Node) (bool, error) {
	rendered := "rendered-worker-00000000000000000000000000000000"
	for _, role := range k.spec.Roles {
		if role == "master" || role == "arbiter" {
			rendered = "rendered-" + role + "-00000000000000000000000000000000"
		}
	}
	next := map[string]string{"": "Working", "Working": "Done"}[node.Annotations[configState]]
	if next == "" {
		return true, nil
	}
	if err := k.render(ctx, rendered); err != nil {
		return false, err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		"machineconfiguration.openshift.io/currentConfig": rendered,
		"machineconfiguration.openshift.io/desiredConfig": rendered,
		configState: next,
	}}})
	if err != nil {
		return false, err
	}
	if _, err := k.node.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return false, fmt.Errorf("annotate node %s: %w", node.Name, err)
	}
	return false, nil
}

// render makes the config of a node, as the machine config controller does before it desires it.
func (k *kubelet) render(ctx context.Context, name string) error {
	const place = "/apis/machineconfiguration.openshift.io/v1/machineconfigs"
	body, err := json.Marshal(map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": map[string]any{"name": name},
	})
	if err != nil {
		return err
	}
	err = k.node.CoreV1().RESTClient().Post().AbsPath(place).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("render machine config %s: %w", name, err)
	}
	return nil
}
