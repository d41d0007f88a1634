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
	"slipway/api/kube/resource"
)

// Register adds both controllers to a manager.
func Register(m ctrl.Manager, l *Labeler, c *Counter) error {
	agentsOf := func(ctx context.Context, o kube.Object) []reconcile.Request {
		all := func(*agentinstall.Agent) bool { return true }
		return resource.Requests(ctx, l.Kube, &agentinstall.AgentList{}, all, kube.InNamespace(o.GetNamespace()))
	}
	err := ctrl.NewControllerManagedBy(m).Named("agentlabels").
		For(&agentinstall.Agent{}, builder.WithPredicates(predicate.Or(inventories, labels))).
		Watches(&agentinstall.AgentClassification{}, handler.EnqueueRequestsFromMapFunc(agentsOf), builder.WithPredicates(specs)).Complete(l)
	if err != nil {
		return fmt.Errorf("label Agents: %w", err)
	}
	classificationsOf := func(ctx context.Context, o kube.Object) []reconcile.Request {
		all := func(*agentinstall.AgentClassification) bool { return true }
		return resource.Requests(ctx, c.Kube, &agentinstall.AgentClassificationList{}, all, kube.InNamespace(o.GetNamespace()))
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
var specs = predicate.Funcs{UpdateFunc: resource.ChangedByOthers}

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
