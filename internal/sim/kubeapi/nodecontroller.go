package kubeapi

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// unreachableTaint is on nodes whose kubelets do not report.
const unreachableTaint = "node.kubernetes.io/unreachable"

// MissNode does what the node controller does when the kubelet of a node has not reported for the grace period: the conditions are unknown,
// and the node is tainted (Kubernetes, pkg/controller/nodelifecycle). A node that does not exist is fine.
func MissNode(ctx context.Context, apiURL, name string, now time.Time) error {
	c, err := kubernetes.NewForConfig(Config(apiURL, UserAdmin))
	if err != nil {
		return fmt.Errorf("make the client of the node controller: %w", err)
	}
	node, err := c.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("miss node %s: %w", name, err)
	}
	for n := range node.Status.Conditions {
		condition := &node.Status.Conditions[n]
		condition.Status, condition.LastTransitionTime = corev1.ConditionUnknown, metav1.NewTime(now)
		condition.Reason, condition.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
	}
	if node, err = c.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("miss node %s: %w", name, err)
	}
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: unreachableTaint, Effect: effect})
	}
	if _, err := c.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("taint node %s: %w", name, err)
	}
	return nil
}
