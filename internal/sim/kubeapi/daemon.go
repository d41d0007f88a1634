package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// configState is how far the machine config daemon is with the config of its node.
const configState = "machineconfiguration.openshift.io/state"

// runDaemon is the machine config daemon of a ready node: the node has its config, which the daemon first finds to be
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
