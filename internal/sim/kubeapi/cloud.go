package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Taints of nodes (Kubernetes, "Well-Known Labels, Annotations and Taints").
const (
	uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"
	notReadyTaint      = "node.kubernetes.io/not-ready"
)

// RunCloud plays a cloud controller manager whose credentials are right: it gives nodes that have the taint of
// uninitialized ones their provider ID and removes the taint, and leaves others alone (kubernetes/cloud-provider,
// controllers/node). It looks every poll, 500 ms if zero, and ends with ctx.
func RunCloud(ctx context.Context, apiURL string, every time.Duration) error {
	if every <= 0 {
		every = defaultPoll
	}
	kube, err := kubernetes.NewForConfig(Config(apiURL, UserAdmin))
	if err != nil {
		return fmt.Errorf("make client of the cloud controller manager: %w", err)
	}
	nodes := kube.CoreV1().Nodes()
	return poll(ctx, every, func(ctx context.Context) (bool, error) {
		list, err := nodes.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			node := &list.Items[i]
			if !removeTaint(node, uninitializedTaint) {
				continue
			}
			node.Spec.ProviderID = "simulated://" + node.Name
			if _, err := nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
				return false, err
			}
		}
		return false, nil
	})
}

// removeTaint reports whether the node had the taint.
func removeTaint(node *corev1.Node, key string) bool {
	before := len(node.Spec.Taints)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	return len(node.Spec.Taints) < before
}

// schedulable reports whether pods without tolerations of their own run on a node: operators are such pods. Operators of OpenShift
// tolerate masters.
func schedulable(node *corev1.Node) bool {
	return nodeReady(node) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == uninitializedTaint || t.Key == notReadyTaint
	})
}
