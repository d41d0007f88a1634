package classification

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
)

// Labeler labels Agents.
type Labeler struct{ Kube kube.Client }

// Reconcile gives an Agent the labels of the classifications of its namespace.
func (l *Labeler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	a := &agentinstall.Agent{}
	if err := l.Kube.Get(ctx, request.NamespacedName, a); err != nil || resource.Paused(a) {
		return reconcile.Result{}, kube.IgnoreNotFound(err)
	}
	var list agentinstall.AgentClassificationList
	if err := l.Kube.List(ctx, &list, kube.InNamespace(a.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list AgentClassifications: %w", err)
	}
	before := a.DeepCopy()
	if a.Labels = Labels(ctx, a, list.Items); equality.Semantic.DeepEqual(before.Labels, a.Labels) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, kube.IgnoreNotFound(l.Kube.Patch(ctx, a, kube.MergeFrom(before)))
}

// Counter counts the Agents of classifications.
type Counter struct {
	Kube kube.Client
	Now  func() time.Time
}

// Reconcile writes the status of a classification, and lets one that is deleted go once no Agent has its label.
func (c *Counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	found := &agentinstall.AgentClassification{}
	if err := c.Kube.Get(ctx, request.NamespacedName, found); err != nil || resource.Paused(found) {
		return reconcile.Result{}, kube.IgnoreNotFound(err)
	}
	before := found.DeepCopy()
	if found.DeletionTimestamp.IsZero() && controllerutil.AddFinalizer(found, agentinstall.ClassificationFinalizer) {
		if err := c.Kube.Patch(ctx, found, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, err
		}
		before = found.DeepCopy()
	}
	var agents agentinstall.AgentList
	if err := c.Kube.List(ctx, &agents, kube.InNamespace(found.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list Agents: %w", err)
	}
	found.Status = Status(found, agents.Items, resource.Now(c.Now()))
	if !found.DeletionTimestamp.IsZero() && found.Status.MatchedCount+found.Status.ErrorCount == 0 {
		controllerutil.RemoveFinalizer(found, agentinstall.ClassificationFinalizer)
		return reconcile.Result{}, kube.IgnoreNotFound(c.Kube.Patch(ctx, found, kube.MergeFrom(before)))
	}
	if equality.Semantic.DeepEqual(before.Status, found.Status) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, kube.IgnoreNotFound(c.Kube.Status().Patch(ctx, found, kube.MergeFrom(before)))
}
