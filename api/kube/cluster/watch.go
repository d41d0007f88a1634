package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Register adds the controller to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	err := m.GetFieldIndexer().IndexField(context.Background(), &agentinstall.Agent{}, byDeployment, func(o kube.Object) []string {
		a, isAgent := o.(*agentinstall.Agent)
		if !isAgent || deploymentOf(a).Name == "" {
			return nil
		}
		return []string{deploymentOf(a).String()}
	})
	if err != nil {
		return fmt.Errorf("index Agents by their clusters: %w", err)
	}
	changes := source.Func(func(ctx context.Context, q queue) error {
		r.Index.Watch(objects.Cluster, func(key types.NamespacedName) { q.Add(reconcile.Request{NamespacedName: key}) })
		r.Index.Watch(objects.Host, func(key types.NamespacedName) { // counts, and hosts that can join
			a := &agentinstall.Agent{}
			if err := r.Kube.Get(ctx, key, a); err == nil {
				for _, request := range ofAgent(ctx, a) {
					q.Add(request)
				}
			}
		})
		return nil
	})
	return ctrl.NewControllerManagedBy(m).Named("agentclusterinstall").
		For(&hive.ClusterDeployment{}, builder.WithPredicates(byOthers)).
		Watches(&hiveext.AgentClusterInstall{}, handler.EnqueueRequestsFromMapFunc(ofInstall), builder.WithPredicates(byOthers)).
		Watches(&agentinstall.Agent{}, handler.EnqueueRequestsFromMapFunc(ofAgent), builder.WithPredicates(approvals)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requests(usesSecret))).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.requests(usesConfigMap))).
		Watches(&hive.ClusterImageSet{}, handler.EnqueueRequestsFromMapFunc(r.requests(usesImageSet))).
		WatchesRawSource(changes).Complete(r)
}

// byOthers passes changes of users, also of annotations that act.
var byOthers = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return resource.ChangedByOthers(e) || annotations(e.ObjectOld) != annotations(e.ObjectNew)
}}

// annotations returns the annotations that act.
func annotations(o kube.Object) [3]string {
	a := o.GetAnnotations()
	return [3]string{a[overridesAnnotation], a[ignoredClusterAnnotation], a[ignoredHostAnnotation]}
}

// approvals passes changes of Agents that matter to their cluster: the spec, and whether it is applied.
var approvals = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, isAgent := e.ObjectOld.(*agentinstall.Agent)
	after, stillAgent := e.ObjectNew.(*agentinstall.Agent)
	return !isAgent || !stillAgent || before.Generation != after.Generation || applied(before) != applied(after)
}}

func applied(a *agentinstall.Agent) bool {
	return !a.Status.Has(agentinstall.SpecSynced, corev1.ConditionFalse)
}

func ofAgent(_ context.Context, o kube.Object) []reconcile.Request {
	a, isAgent := o.(*agentinstall.Agent)
	if !isAgent || deploymentOf(a).Name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: deploymentOf(a)}}
}

func ofInstall(_ context.Context, o kube.Object) []reconcile.Request {
	install, isInstall := o.(*hiveext.AgentClusterInstall)
	if !isInstall {
		return nil
	}
	key := types.NamespacedName{Namespace: install.Namespace, Name: install.Spec.ClusterDeploymentRef.Name}
	return []reconcile.Request{{NamespacedName: key}}
}

func usesSecret(d *hive.ClusterDeployment, i *hiveext.AgentClusterInstall, o kube.Object) bool {
	pull := d.Spec.PullSecretRef
	if pull != nil && pull.Name == o.GetName() && d.Namespace == o.GetNamespace() {
		return true
	}
	endpoint := i.Spec.IgnitionEndpoint
	return endpoint != nil && endpoint.CaCertificateReference != nil && endpoint.CaCertificateReference.Name == o.GetName() &&
		endpoint.CaCertificateReference.Namespace == o.GetNamespace()
}

func usesConfigMap(d *hive.ClusterDeployment, i *hiveext.AgentClusterInstall, o kube.Object) bool {
	return d.Namespace == o.GetNamespace() && slices.Contains(configMapsOf(&i.Spec), o.GetName()) ||
		resource.NamesConfigMap(i.Spec.MirrorRegistryRef, o.GetNamespace(), o.GetName())
}

func usesImageSet(_ *hive.ClusterDeployment, i *hiveext.AgentClusterInstall, o kube.Object) bool {
	return i.Spec.ImageSetRef != nil && i.Spec.ImageSetRef.Name == o.GetName()
}

// requests returns the ClusterDeployments that an object concerns.
func (r *Reconciler) requests(concerns func(*hive.ClusterDeployment, *hiveext.AgentClusterInstall, kube.Object) bool) handler.MapFunc {
	return func(ctx context.Context, o kube.Object) []reconcile.Request {
		return resource.Requests(ctx, r.Kube, &hive.ClusterDeploymentList{}, func(d *hive.ClusterDeployment) bool {
			install, ref := &hiveext.AgentClusterInstall{}, d.Spec.ClusterInstallRef
			return ref != nil && r.Kube.Get(ctx, kube.ObjectKey{Namespace: d.Namespace, Name: ref.Name}, install) == nil && concerns(d, install, o)
		})
	}
}
