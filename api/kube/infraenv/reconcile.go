package infraenv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Service is the part of the API that a Reconciler calls.
type Service interface {
	RegisterInfraEnv(ctx context.Context, params wire.InfraEnvCreateParams, options ...client.Option) (*wire.InfraEnv, error)
	InfraEnv(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.InfraEnv, error)
	UpdateInfraEnv(ctx context.Context, id uuid.UUID, p wire.InfraEnvUpdateParams, options ...client.Option) (*wire.InfraEnv, error)
	DeleteInfraEnv(ctx context.Context, id uuid.UUID, options ...client.Option) error
	BootArtifacts(ctx context.Context, id uuid.UUID, options ...client.Option) (wire.BootArtifacts, error)
	ListHosts(ctx context.Context, infraEnvID uuid.UUID, options ...client.Option) ([]wire.Host, error)
	DeleteHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
}

// Reconciler follows resources InfraEnv.
type Reconciler struct {
	resource.References

	Service Service
	Now     func() time.Time

	applied resource.Taken
}

// Reconcile makes the service and the status follow a resource.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	id, exists, err := r.Index.ID(ctx, objects.InfraEnv, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	e := &agentinstall.InfraEnv{}
	err = r.Kube.Get(ctx, request.NamespacedName, e)
	switch {
	case apierrors.IsNotFound(err) && exists:
		e.Namespace, e.Name = request.Namespace, request.Name
		_, err := r.remove(ctx, e, id) // somebody removed the finalizer
		return reconcile.Result{}, err
	case err != nil:
		return reconcile.Result{}, kube.IgnoreNotFound(err)
	case resource.Paused(e):
		return reconcile.Result{}, nil
	case !e.DeletionTimestamp.IsZero():
		return r.finalize(ctx, e, id)
	}
	before := e.DeepCopy()
	if controllerutil.AddFinalizer(e, agentinstall.InfraEnvFinalizer) {
		if err := r.Kube.Patch(ctx, e, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, err
		}
		before = e.DeepCopy()
	}
	wait, problem := r.follow(ctx, e, id)
	if problem != nil {
		e.Status = Failed(e, problem, input(problem), resource.Now(r.Now()))
	}
	if !equality.Semantic.DeepEqual(before.Status, e.Status) {
		if err := r.Kube.Status().Patch(ctx, e, kube.MergeFrom(before)); err != nil {
			return reconcile.Result{}, err
		}
	}
	if problem != nil && !input(problem) {
		return reconcile.Result{}, problem // with growing pauses
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// input reports whether a user has to change something.
func input(err error) bool {
	var missing *resource.MissingDeploymentError
	return errors.As(err, &missing) || resource.IsInput(err)
}

// follow gives the service the settings of a resource, and the resource its status. It returns when to do so again; zero: when something
// changes.
func (r *Reconciler) follow(ctx context.Context, e *agentinstall.InfraEnv, id uuid.UUID) (time.Duration, error) {
	in, err := r.inputs(ctx, e)
	if err != nil {
		return resource.Late, err
	}
	env, err := r.apply(ctx, in, id)
	if errors.Is(err, model.ErrNotFound) && id != uuid.Nil { // an administrator deleted it
		r.Index.Set(objects.InfraEnv, kube.ObjectKeyFromObject(e), uuid.Nil)
		env, err = r.apply(ctx, in, uuid.Nil)
	}
	if err != nil {
		return resource.Again, err
	}
	now := r.Now()
	keep, wait := Current(in, env, now)
	var boot wire.BootArtifacts
	if !keep {
		if boot, err = r.Service.BootArtifacts(ctx, env.ID); err != nil {
			return resource.Again, err
		}
	}
	e.Status = Ready(in, env, boot, keep, resource.Now(now))
	if !keep {
		_, wait = Current(in, env, now)
	}
	return wait, nil
}

// apply registers an InfraEnv, or updates it when the settings are not those that the service took last.
func (r *Reconciler) apply(ctx context.Context, in Inputs, id uuid.UUID) (*wire.InfraEnv, error) {
	e := in.Resource
	owned := client.WithKubeKey(e.Namespace, e.Name)
	update, err := Update(in)
	if err != nil {
		return nil, &resource.InputError{Err: err}
	}
	digest, err := resource.DigestOf(update)
	if err != nil {
		return nil, err
	}
	var env *wire.InfraEnv
	switch {
	case id == uuid.Nil:
		params, err := Create(in)
		if err != nil {
			return nil, &resource.InputError{Err: err}
		}
		if env, err = r.Service.RegisterInfraEnv(ctx, params, owned); err != nil {
			return nil, errors.Join(err, r.Index.Load(ctx)) // another process may have registered it
		}
		r.Index.Set(objects.InfraEnv, kube.ObjectKeyFromObject(e), env.ID)
	case r.applied.Has(e.UID, digest):
		return r.Service.InfraEnv(ctx, id)
	default:
		if env, err = r.Service.UpdateInfraEnv(ctx, id, update, owned); err != nil {
			return nil, err
		}
	}
	r.applied.Set(e.UID, digest)
	return env, nil
}

// inputs reads what a resource depends on.
func (r *Reconciler) inputs(ctx context.Context, e *agentinstall.InfraEnv) (Inputs, error) {
	in := Inputs{Resource: e}
	if ref := e.Spec.ClusterRef; ref != nil {
		id, err := r.Cluster(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
		if err != nil {
			return in, err
		}
		in.ClusterID = id
	}
	secret, err := r.Secret(ctx, types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.PullSecretRef.Name})
	if err != nil {
		return in, err
	}
	text, found := secret.Data[corev1.DockerConfigJsonKey]
	if !found {
		return in, &resource.InputError{Err: fmt.Errorf("require %s in Secret %s, found none", corev1.DockerConfigJsonKey, secret.Name)}
	}
	in.PullSecret = strings.TrimSpace(string(text))
	if in.Mirrors, err = r.Mirrors(ctx, e.Spec.MirrorRegistryRef); err != nil {
		return in, err
	}
	selector, err := metav1.LabelSelectorAsSelector(&e.Spec.NMStateConfigLabelSelector)
	if err != nil {
		return in, &resource.InputError{Err: fmt.Errorf("read spec.nmStateConfigLabelSelector: %w", err)}
	}
	if selector.Empty() { // a user who names no labels wants none, rather than all
		return in, nil
	}
	var list agentinstall.NMStateConfigList
	if err := r.Kube.List(ctx, &list, kube.InNamespace(e.Namespace), kube.MatchingLabelsSelector{Selector: selector}); err != nil {
		return in, fmt.Errorf("list NMStateConfigs: %w", err)
	}
	in.Networks = list.Items
	return in, nil
}

// finalize lets a resource go once the service has forgotten its InfraEnv.
func (r *Reconciler) finalize(ctx context.Context, e *agentinstall.InfraEnv, id uuid.UUID) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(e, agentinstall.InfraEnvFinalizer) {
		return reconcile.Result{}, nil
	}
	before := e.DeepCopy()
	if id != uuid.Nil {
		waits, err := r.remove(ctx, e, id)
		if err != nil {
			return reconcile.Result{}, err
		}
		if waits != "" {
			setCondition(&e.Status, corev1.ConditionFalse, agentinstall.ReasonImageCreationError,
				"The InfraEnv is deleted once its hosts are installed or unbound: "+waits, resource.Now(r.Now()))
			return reconcile.Result{RequeueAfter: resource.Again}, r.Kube.Status().Patch(ctx, e, kube.MergeFrom(before))
		}
	}
	controllerutil.RemoveFinalizer(e, agentinstall.InfraEnvFinalizer)
	r.applied.Forget(e.UID)
	return reconcile.Result{}, kube.IgnoreNotFound(r.Kube.Patch(ctx, e, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{})))
}

// leaving lists the statuses of hosts that are deregistered with their InfraEnv: they belong to no cluster, or are installed. It waits for
// others (openshift/assisted-service, docs/hive-integration).
var leaving = map[wire.HostStatus]bool{
	wire.HostStatusDiscoveringUnbound: true, wire.HostStatusDisconnectedUnbound: true, wire.HostStatusInsufficientUnbound: true,
	wire.HostStatusKnownUnbound: true, wire.HostStatusUnbinding: true, wire.HostStatusUnbindingPendingUserAction: true,
	wire.HostStatusInstalled: true, wire.HostStatusAddedToExistingCluster: true,
}

// remove deregisters an InfraEnv and its hosts. It returns which hosts keep it.
func (r *Reconciler) remove(ctx context.Context, e *agentinstall.InfraEnv, id uuid.UUID) (waits string, err error) {
	hosts, err := r.Service.ListHosts(ctx, id)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return "", err
	}
	var staying []string
	for n := range hosts {
		if h := &hosts[n]; !leaving[h.Status] {
			staying = append(staying, fmt.Sprintf("%s is %s", h.ID, h.Status))
		}
	}
	if len(staying) > 0 {
		return strings.Join(staying, ", "), nil
	}
	for n := range hosts {
		err := r.Service.DeleteHost(ctx, id, hosts[n].ID, client.WithKubeKey(e.Namespace, hosts[n].ID.String()))
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return "", err
		}
	}
	err = r.Service.DeleteInfraEnv(ctx, id, client.WithKubeKey(e.Namespace, e.Name))
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return "", err
	}
	r.Index.Set(objects.InfraEnv, kube.ObjectKeyFromObject(e), uuid.Nil)
	return "", nil
}
