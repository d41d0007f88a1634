package agent

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
	"slipway/internal/platform/hostexec"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Register adds the controller to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	changes := source.Func(func(ctx context.Context, q queue) error {
		missed := make(chan struct{}, 1)
		r.Index.WatchMissed(func() {
			select {
			case missed <- struct{}{}:
			default: // a list is due already
			}
		})
		r.Index.Watch(objects.Host, func(key types.NamespacedName) { q.Add(reconcile.Request{NamespacedName: key}) })
		r.Index.Watch(objects.Cluster, func(key types.NamespacedName) { r.enqueue(ctx, q, ofCluster(key)) })
		go r.listHosts(ctx, q, missed)
		return nil
	})
	deployments := &metav1.PartialObjectMetadata{}
	deployments.SetGroupVersionKind(resource.ClusterDeployments)
	return ctrl.NewControllerManagedBy(m).For(&agentinstall.Agent{}, builder.WithPredicates(byOthers)).Named("agent").
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requests(refersTo))).
		WatchesMetadata(deployments, handler.EnqueueRequestsFromMapFunc(r.requests(func(a *agentinstall.Agent, o kube.Object) bool {
			return ofCluster(kube.ObjectKeyFromObject(o))(a)
		}))).
		Watches(&agentinstall.InfraEnv{}, handler.EnqueueRequestsFromMapFunc(r.requests(ofInfraEnv)), builder.WithPredicates(deletions)).
		WatchesRawSource(changes).Complete(r)
}

// byOthers passes changes of users, also of the InfraEnv that an Agent names.
var byOthers = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return resource.ChangedByOthers(e) ||
		e.ObjectOld.GetLabels()[agentinstall.InfraEnvLabel] != e.ObjectNew.GetLabels()[agentinstall.InfraEnvLabel]
}}

// deletions passes the ends of objects alone.
var deletions = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// listHosts asks for the hosts of all InfraEnvs when changes may have been missed: some may have no Agent yet.
func (r *Reconciler) listHosts(ctx context.Context, q queue, missed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-missed:
		}
		for key, id := range r.Index.InfraEnvs() {
			for ctx.Err() == nil {
				hosts, err := r.Service.ListHosts(ctx, id)
				if err == nil || resource.IsInput(err) {
					for n := range hosts {
						r.Index.SetHost(hosts[n].ID, id)
						q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: key.Namespace, Name: hosts[n].ID.String()}})
					}
					break
				}
				log.FromContext(ctx).Error(err, "hosts are not known", "infraenv", key)
				_ = hostexec.Sleep(ctx, 5*time.Second)
			}
		}
	}
}

func refersTo(a *agentinstall.Agent, o kube.Object) bool {
	token := a.Spec.IgnitionEndpointTokenReference
	return token != nil && token.Name == o.GetName() && token.Namespace == o.GetNamespace() ||
		a.Spec.FencingCredentialsSecretRef == o.GetName() && a.Namespace == o.GetNamespace()
}

func ofInfraEnv(a *agentinstall.Agent, o kube.Object) bool {
	return infraEnvKey(a) == kube.ObjectKeyFromObject(o)
}

func ofCluster(key types.NamespacedName) func(*agentinstall.Agent) bool {
	return func(a *agentinstall.Agent) bool { return a.Spec.ClusterDeploymentName.Is(key) }
}

// requests returns the Agents that an object concerns.
func (r *Reconciler) requests(concerns func(*agentinstall.Agent, kube.Object) bool) handler.MapFunc {
	return func(ctx context.Context, o kube.Object) []reconcile.Request {
		return r.that(ctx, func(a *agentinstall.Agent) bool { return concerns(a, o) })
	}
}

func (r *Reconciler) enqueue(ctx context.Context, q queue, which func(*agentinstall.Agent) bool) {
	for _, request := range r.that(ctx, which) {
		q.Add(request)
	}
}

func (r *Reconciler) that(ctx context.Context, which func(*agentinstall.Agent) bool) []reconcile.Request {
	return resource.Requests(ctx, r.Kube, &agentinstall.AgentList{}, which)
}
