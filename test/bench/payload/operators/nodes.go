package operators

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"slipway/test/bench/payload/plan"
)

// roleLabels returns the labels of a role, which kubelets may not give themselves. Masters run everything
// where there are no workers.
func roleLabels(c *plan.Cluster, role string) map[string]string {
	switch {
	case role == plan.Master && c.Workers == 0:
		return map[string]string{
			"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/worker": "",
		}
	case role == plan.Master:
		return map[string]string{"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": ""}
	case role == plan.Worker:
		return map[string]string{"node-role.kubernetes.io/worker": ""}
	}
	return nil
}

func (o *Operators) labelNodes(ctx context.Context, nodes []corev1.Node) error {
	for i := range nodes {
		node := &nodes[i]
		missing := map[string]string{}
		for key, value := range roleLabels(o.Host.Plan, roleOf(node)) {
			if _, has := node.Labels[key]; !has {
				missing[key] = value
			}
		}
		if len(missing) == 0 {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": missing}})
		if err != nil {
			return err
		}
		if _, err := o.kube.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("label node %s: %w", node.Name, err)
		}
		o.Log.Info("node labelled", "node", node.Name, "role", roleOf(node))
	}
	return nil
}

// Annotations of the machine config daemon (openshift/machine-config-operator, pkg/daemon/constants).
const (
	currentConfig = "machineconfiguration.openshift.io/currentConfig"
	desiredConfig = "machineconfiguration.openshift.io/desiredConfig"
	configState   = "machineconfiguration.openshift.io/state"
)

// configured returns the annotations that a daemon gives its node next: it first finds out which config the node should
// have, and then that it has it. None when that is done, or the daemon, a pod, does not run yet.
func configured(node *corev1.Node) map[string]string {
	pool := roleOf(node)
	if !usable(node) || pool == "" {
		return nil
	}
	rendered := "rendered-" + pool + "-00000000000000000000000000000000"
	switch node.Annotations[configState] {
	case "":
		return map[string]string{currentConfig: rendered, desiredConfig: rendered, configState: "Working"}
	case "Working":
		return map[string]string{configState: "Done"}
	}
	return nil
}

// annotateNodes acts as the machine config daemon of each node.
func (o *Operators) annotateNodes(ctx context.Context, nodes []corev1.Node) error {
	for i := range nodes {
		next := configured(&nodes[i])
		if len(next) == 0 {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": next}})
		if err != nil {
			return err
		}
		if _, err := o.kube.CoreV1().Nodes().Patch(ctx, nodes[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("annotate node %s: %w", nodes[i].Name, err)
		}
		o.Log.Info("machine config of a node", "node", nodes[i].Name, "state", next[configState])
	}
	return nil
}

// bindPods gives pods that have none a node: there is no scheduler.
func (o *Operators) bindPods(ctx context.Context, nodes []corev1.Node) error {
	pods, err := o.kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		node := nodeFor(pod, nodes)
		if node == "" || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending {
			continue
		}
		err := o.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("bind pod %s to %s: %w", pod.Name, node, err)
		}
		o.Log.Info("pod bound", "pod", pod.Name, "node", node)
	}
	return nil
}

// nodeFor returns the first usable node with the labels that a pod asks for.
func nodeFor(pod *corev1.Pod, nodes []corev1.Node) string {
	wanted := labels.SelectorFromSet(pod.Spec.NodeSelector)
	for i := range nodes {
		if usable(&nodes[i]) && wanted.Matches(labels.Set(nodes[i].Labels)) {
			return nodes[i].Name
		}
	}
	return ""
}
