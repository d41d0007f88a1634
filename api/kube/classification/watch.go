package classification

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
)

// Register adds both controllers to a manager.
func Register(m ctrl.Manager, l *Labeler, c *Counter) error {
	agentsOf := func(ctx context.Context, o kube.Object) []reconcile.Request {
		return inNamespace(ctx, l.Kube, o, &agentinstall.AgentList{})
	}
	err := ctrl.NewControllerManagedBy(m).Named("agentlabels").
		For(&agentinstall.Agent{}, builder.WithPredicates(predicate.Or(inventories, labels))).
		Watches(&agentinstall.AgentClassification{}, handler.EnqueueRequestsFromMapFunc(agentsOf), builder.WithPredicates(specs)).Complete(l)
	if err != nil {
		return fmt.Errorf("label Agents: %w", err)
	}
	classificationsOf := func(ctx context.Context, o kube.Object) []reconcile.Request {
		return inNamespace(ctx, c.Kube, o, &agentinstall.AgentClassificationList{})
	}
	err = ctrl.NewControllerManagedBy(m).Named("agentclassification").
		For(&agentinstall.AgentClassification{}, builder.WithPredicates(specs)).
		Watches(&agentinstall.Agent{}, handler.EnqueueRequestsFromMapFunc(classificationsOf), builder.WithPredicates(labels)).Complete(c)
	if err != nil {
		return fmt.Errorf("count Agents: %w", err)
	}
	return nil
}

// specs passes changes of users, and a resync.
var specs = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion()
}}

// inventories passes Agents whose inventory changes, and a resync.
var inventories = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, isAgent := e.ObjectOld.(*agentinstall.Agent)
	after, stillAgent := e.ObjectNew.(*agentinstall.Agent)
	return !isAgent || !stillAgent || before.ResourceVersion == after.ResourceVersion ||
		!equality.Semantic.DeepEqual(before.Status.Inventory, after.Status.Inventory)
}}

// labels passes Agents whose labels of classifications change.
var labels = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return !maps.Equal(ours(e.ObjectOld.GetLabels()), ours(e.ObjectNew.GetLabels()))
}}

func ours(labels map[string]string) map[string]string {
	found := map[string]string{}
	for key, value := range labels {
		if strings.HasPrefix(key, agentinstall.ClassificationLabel) {
			found[key] = value
		}
	}
	return found
}

// inNamespace returns the objects of a list that are in the namespace of o.
func inNamespace(ctx context.Context, c kube.Client, o kube.Object, list kube.ObjectList) (found []reconcile.Request) {
	if err := c.List(ctx, list, kube.InNamespace(o.GetNamespace())); err != nil {
		return nil // the cache is not filled: each is reconciled then
	}
	add := func(o kube.Object) {
		found = append(found, reconcile.Request{NamespacedName: kube.ObjectKeyFromObject(o)})
	}
	switch list := list.(type) {
	case *agentinstall.AgentList:
		for n := range list.Items {
			add(&list.Items[n])
		}
	case *agentinstall.AgentClassificationList:
		for n := range list.Items {
			add(&list.Items[n])
		}
	}
	return found
}
