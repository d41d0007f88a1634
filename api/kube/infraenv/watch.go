package infraenv

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
)

// Register adds the controller to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	changes := source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Index.Watch(objects.InfraEnv, func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) })
		r.Index.Watch(objects.Cluster, func(key types.NamespacedName) { r.enqueue(ctx, queue, ofCluster(key)) })
		return nil
	})
	deployments := &metav1.PartialObjectMetadata{}
	deployments.SetGroupVersionKind(resource.ClusterDeployments)
	return ctrl.NewControllerManagedBy(m).For(&agentinstall.InfraEnv{}).Named("infraenv").
		Watches(&agentinstall.NMStateConfig{}, handler.EnqueueRequestsFromMapFunc(r.requests(selects))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requests(refersTo))).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.requests(mirrorsFrom))).
		WatchesMetadata(deployments, handler.EnqueueRequestsFromMapFunc(r.requests(func(e *agentinstall.InfraEnv, o kube.Object) bool {
			return ofCluster(kube.ObjectKeyFromObject(o))(e)
		}))).
		WatchesRawSource(changes).Complete(r)
}

// selects reports whether an InfraEnv may have or have had an NMStateConfig: labels may be other ones than before.
func selects(e *agentinstall.InfraEnv, o kube.Object) bool {
	selector, err := metav1.LabelSelectorAsSelector(&e.Spec.NMStateConfigLabelSelector)
	return e.Namespace == o.GetNamespace() && err == nil && !selector.Empty()
}

func refersTo(e *agentinstall.InfraEnv, o kube.Object) bool {
	return e.Namespace == o.GetNamespace() && e.Spec.PullSecretRef != nil && e.Spec.PullSecretRef.Name == o.GetName()
}

func mirrorsFrom(e *agentinstall.InfraEnv, o kube.Object) bool {
	return resource.NamesConfigMap(e.Spec.MirrorRegistryRef, o.GetNamespace(), o.GetName())
}

func ofCluster(key types.NamespacedName) func(*agentinstall.InfraEnv) bool {
	return func(e *agentinstall.InfraEnv) bool { return e.Spec.ClusterRef.Is(key) }
}

// requests returns the InfraEnvs that an object concerns.
func (r *Reconciler) requests(concerns func(*agentinstall.InfraEnv, kube.Object) bool) handler.MapFunc {
	return func(ctx context.Context, o kube.Object) []reconcile.Request {
		return r.that(ctx, func(e *agentinstall.InfraEnv) bool { return concerns(e, o) })
	}
}

func (r *Reconciler) enqueue(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], which func(*agentinstall.InfraEnv) bool,
) {
	for _, request := range r.that(ctx, which) {
		queue.Add(request)
	}
}

func (r *Reconciler) that(ctx context.Context, which func(*agentinstall.InfraEnv) bool) []reconcile.Request {
	return resource.Requests(ctx, r.Kube, &agentinstall.InfraEnvList{}, which)
}
