package spoke

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
)

// remove removes the node of a host that left its cluster, once the host has booted from the image of its InfraEnv.
func (r *Reconciler) remove(ctx context.Context, a *agentinstall.Agent) (reconcile.Result, error) {
	info, before := *a.Status.DeprovisionInfo, a.DeepCopy()
	decision, err := r.decide(ctx, a)
	if err != nil { // the cluster may be away for long: it is asked again, and the status says so meanwhile
		decision = Decision{Wait, err.Error()}
	}
	var result reconcile.Result
	switch {
	case decision.Step == Wait && !back(a):
		return result, nil // the change of its state comes
	case decision.Step == Wait:
		Failed(a, decision.Reason, resource.Now(r.Now()))
		result.RequeueAfter = again
	default:
		a.Status.EndCleanup()
	}
	if equality.Semantic.DeepEqual(before.Status, a.Status) { // for the same reason as a minute ago
		return result, nil
	}
	// Another controller writes conditions as well: with a status that has changed meanwhile this is done again.
	if err := r.Kube.Status().Patch(ctx, a, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{})); err != nil {
		return result, kube.IgnoreNotFound(err)
	}
	if decision.Step == Keep && decision.Reason != "" {
		r.Events.Eventf(a, nil, corev1.EventTypeNormal, "NodeKept", "Leave", "node %s of cluster %s/%s is not removed: %s",
			info.NodeName, info.ClusterNamespace, info.ClusterName, decision.Reason)
	}
	return result, nil
}

// decide decides about the node that a host has left, and deletes it where that is the decision.
func (r *Reconciler) decide(ctx context.Context, a *agentinstall.Agent) (Decision, error) {
	info := a.Status.DeprovisionInfo
	deployment, err := r.deployment(ctx, types.NamespacedName{Namespace: info.ClusterNamespace, Name: info.ClusterName})
	if err != nil {
		return Decision{}, err
	}
	if decision := Before(a, deployment); decision.Step != Look {
		return decision, nil
	}
	cluster, err := r.connect(ctx, deployment)
	if err != nil {
		return Decision{}, err
	}
	defer cluster.close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	node, err := cluster.node(ctx, info.NodeName)
	if err != nil {
		return Decision{}, err
	}
	decision := After(a, node, cluster.agents)
	if decision.Step != Remove {
		return decision, nil
	}
	// The node that was looked at, and no other: one that has become ready meanwhile has another version.
	err = cluster.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &node.UID, ResourceVersion: &node.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return Decision{}, fmt.Errorf("delete node %s: %w", node.Name, err)
	}
	r.Events.Eventf(a, nil, corev1.EventTypeNormal, "NodeRemoved", "Leave", "node %s of cluster %s/%s is removed",
		info.NodeName, info.ClusterNamespace, info.ClusterName)
	return decision, nil
}
