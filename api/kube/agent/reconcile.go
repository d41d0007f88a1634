package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	BaseURL() string
	ListHosts(ctx context.Context, infraEnvID uuid.UUID, options ...client.Option) ([]wire.Host, error)
	Host(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error)
	UpdateHost(ctx context.Context, infraEnvID, hostID uuid.UUID, p wire.HostUpdateParams, options ...client.Option) (*wire.Host, error)
	SetInstallerArgs(ctx context.Context, infraEnvID, hostID uuid.UUID, args []string, options ...client.Option) (*wire.Host, error)
	SetHostIgnition(ctx context.Context, infraEnvID, hostID uuid.UUID, config string, options ...client.Option) error
	BindHost(ctx context.Context, infraEnvID, hostID, clusterID uuid.UUID, options ...client.Option) (*wire.Host, error)
	UnbindHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error)
	DeleteHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
	RetryHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
	RetryHostStep(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
	EvictHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
	ApproveHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
	ReclaimHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) error
}

// Reconciler makes resources Agent, and lets hosts follow them.
type Reconciler struct {
	resource.References

	Service Service
	Now     func() time.Time

	hidden resource.Taken // settings of Hidden
}

// Reconcile makes an Agent for a host without one, else lets the host follow its Agent, and the status the host.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	a := &agentinstall.Agent{}
	err := r.Kube.Get(ctx, request.NamespacedName, a)
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, r.create(ctx, request.NamespacedName)
	case err != nil:
		return reconcile.Result{}, err
	case resource.Paused(a):
		return reconcile.Result{}, nil
	}
	id, err := uuid.Parse(a.Name)
	if err != nil { // a user made it: nothing is named so
		return r.unavailable(ctx, a)
	}
	env, exists, err := r.Index.ID(ctx, objects.InfraEnv, infraEnvKey(a))
	if err != nil {
		return reconcile.Result{}, err
	}
	var host *wire.Host
	if exists {
		host, err = r.Service.Host(ctx, env, id)
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return reconcile.Result{}, err
		}
	}
	switch {
	case !a.DeletionTimestamp.IsZero():
		return r.finalize(ctx, a, host)
	case host == nil:
		return r.withoutHost(ctx, a)
	}
	return r.follow(ctx, a, host)
}

// infraEnvKey returns the resource of the InfraEnv that the host of an Agent booted from.
func infraEnvKey(a *agentinstall.Agent) types.NamespacedName {
	return types.NamespacedName{Namespace: a.Namespace, Name: a.Labels[agentinstall.InfraEnvLabel]}
}

// create makes the Agent of a host. A host that has left meanwhile, or whose InfraEnv leaves, gets none.
func (r *Reconciler) create(ctx context.Context, key types.NamespacedName) error {
	id, err := uuid.Parse(key.Name)
	if err != nil {
		return nil //nolint:nilerr // a user's Agent was deleted
	}
	envKey, envID, known := r.Index.InfraEnvOf(id)
	if !known {
		return nil
	}
	env := &agentinstall.InfraEnv{}
	if err := r.Kube.Get(ctx, envKey, env); err != nil || !env.DeletionTimestamp.IsZero() {
		return kube.IgnoreNotFound(err)
	}
	h, err := r.Service.Host(ctx, envID, id)
	switch {
	case errors.Is(err, model.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	a := newAgent(env, id)
	if err := describe(Inputs{Resource: a, Host: h}); err != nil {
		return err
	}
	return r.Kube.Create(ctx, a)
}

// newAgent returns the Agent of a host that booted from the image of an InfraEnv.
func newAgent(env *agentinstall.InfraEnv, id uuid.UUID) *agentinstall.Agent {
	a := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{
		Namespace: env.Namespace, Name: id.String(), Labels: maps.Clone(env.Spec.AgentLabels), Finalizers: []string{agentinstall.AgentFinalizer},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(env, agentinstall.GroupVersion.WithKind("InfraEnv"))},
	}}
	a.OwnerReferences[0].Controller, a.OwnerReferences[0].BlockOwnerDeletion = nil, nil
	metav1.SetMetaDataLabel(&a.ObjectMeta, agentinstall.InfraEnvLabel, env.Name)
	a.Spec.Approved = env.Spec.AgentApproval != nil && env.Spec.AgentApproval.AutoApprove
	if env.Spec.ClusterRef != nil {
		a.Spec.ClusterDeploymentName = env.Spec.ClusterRef.DeepCopy()
	}
	return a
}

// withoutHost deletes the Agent of an InfraEnv that is gone. The others stay: their hosts may register again.
func (r *Reconciler) withoutHost(ctx context.Context, a *agentinstall.Agent) (reconcile.Result, error) {
	err := r.Kube.Get(ctx, infraEnvKey(a), &agentinstall.InfraEnv{})
	switch {
	case apierrors.IsNotFound(err) && a.Labels[agentinstall.InfraEnvLabel] != "":
		return reconcile.Result{}, kube.IgnoreNotFound(r.Kube.Delete(ctx, a))
	case err != nil && !apierrors.IsNotFound(err):
		return reconcile.Result{}, err
	}
	return r.unavailable(ctx, a)
}

func (r *Reconciler) unavailable(ctx context.Context, a *agentinstall.Agent) (reconcile.Result, error) {
	before := a.DeepCopy()
	if !a.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, a, nil)
	}
	a.Status = Unavailable(a, resource.Now(r.Now()))
	return reconcile.Result{}, r.writeStatus(ctx, before, a)
}

// follow lets a host follow its Agent, and the Agent's labels, annotations and status the host.
func (r *Reconciler) follow(ctx context.Context, a *agentinstall.Agent, h *wire.Host) (reconcile.Result, error) {
	if err := r.noteNode(ctx, a, h); err != nil {
		return reconcile.Result{}, err
	}
	if err := resource.Obey(ctx, r.Kube, r.Events, a, r.commands(a, h)); err != nil {
		return reconcile.Result{}, err
	}
	in, h, problem := r.sync(ctx, a, h)
	in.Host = h
	before := a.DeepCopy()
	if err := describe(in); err != nil {
		return reconcile.Result{}, err
	}
	if !equality.Semantic.DeepEqual(before.ObjectMeta, a.ObjectMeta) {
		if err := r.Kube.Patch(ctx, a, kube.MergeFrom(before)); err != nil {
			return reconcile.Result{}, err
		}
	}
	before = a.DeepCopy()
	status, err := Status(in, r.Service.BaseURL(), problem, resource.Now(r.Now()))
	if err != nil {
		return reconcile.Result{}, err
	}
	a.Status = status
	if err := r.writeStatus(ctx, before, a); err != nil {
		return reconcile.Result{}, err
	}
	var missing *resource.MissingDeploymentError
	switch {
	case problem == nil:
		return reconcile.Result{}, nil
	case errors.As(problem, &missing), resource.IsInput(problem):
		return reconcile.Result{RequeueAfter: resource.Again}, nil
	}
	return reconcile.Result{}, problem // with growing pauses
}

// noteNode writes into the status which node to remove once the host has left its cluster, before it leaves.
func (r *Reconciler) noteNode(ctx context.Context, a *agentinstall.Agent, h *wire.Host) error {
	bound, known := r.Index.Resource(h.ClusterID)
	if !known {
		return nil
	}
	info := Leaves(a, h, bound)
	if info == nil || a.Status.DeprovisionInfo != nil && *a.Status.DeprovisionInfo == *info {
		return nil
	}
	before := a.DeepCopy()
	a.Status.DeprovisionInfo = info
	return r.writeStatus(ctx, before, a)
}

// sync reads what an Agent depends on, and gives the service its settings. It returns the host as it is then.
func (r *Reconciler) sync(ctx context.Context, a *agentinstall.Agent, h *wire.Host) (Inputs, *wire.Host, error) {
	in := Inputs{Resource: a, Host: h}
	if err := r.read(ctx, &in); err != nil {
		return in, h, err
	}
	digest, err := resource.DigestOf(Hidden(in))
	if err != nil {
		return in, h, err
	}
	in.SecretsKept = r.hidden.Has(a.UID, digest)
	calls, err := Plan(in)
	if err != nil {
		return in, h, err
	}
	h, err = r.apply(ctx, in, calls)
	if err == nil && changeable[h.Status] && !calls.Unbind {
		r.hidden.Set(a.UID, digest)
	}
	return in, h, err
}

// read reads the objects that an Agent refers to.
func (r *Reconciler) read(ctx context.Context, in *Inputs) error {
	if path, namespace := in.Resource.ForeignReference(); path != "" { // changes are admitted while no webhook answers
		return &resource.InputError{
			Err: fmt.Errorf("%s: require the Agent's namespace %s, found %s", path, in.Resource.Namespace, namespace),
		}
	}
	spec := &in.Resource.Spec
	if ref := spec.ClusterDeploymentName; ref != nil && ref.Name != "" {
		id, err := r.Cluster(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
		if err != nil {
			return err
		}
		in.ClusterID = id
	}
	if ref := spec.IgnitionEndpointTokenReference; ref != nil {
		const key = "ignition-token"
		secret, err := r.Secret(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
		if err != nil {
			return err
		}
		if in.Token = string(secret.Data[key]); in.Token == "" {
			return &resource.InputError{Err: fmt.Errorf("require %s in Secret %s/%s, found none", key, ref.Namespace, ref.Name)}
		}
	}
	if name := spec.FencingCredentialsSecretRef; name != "" {
		secret, err := r.Secret(ctx, types.NamespacedName{Namespace: in.Resource.Namespace, Name: name})
		if err != nil {
			return err
		}
		if in.Fencing, err = fencing(secret); err != nil {
			return err
		}
	}
	return nil
}

// fencing reads the credentials of a management controller.
func fencing(secret *corev1.Secret) (*wire.FencingCredentialsParams, error) {
	text := func(key string) string { return strings.TrimSpace(string(secret.Data[key])) }
	for _, key := range []string{"address", "username", "password"} {
		if text(key) == "" {
			return nil, &resource.InputError{Err: fmt.Errorf("require %s in Secret %s/%s, found none", key, secret.Namespace, secret.Name)}
		}
	}
	p := &wire.FencingCredentialsParams{Address: text("address"), Username: text("username"), Password: text("password")}
	if v := text("certificateVerification"); v != "" {
		p.CertificateVerification = new(wire.FencingCredentialsParamsCertificateVerification(v))
	}
	return p, nil
}

// apply carries out calls, and returns the host as it is then, also after an error.
func (r *Reconciler) apply(ctx context.Context, in Inputs, calls Calls) (*wire.Host, error) {
	h := in.Host
	owned := client.WithKubeKey(in.Resource.Namespace, in.Resource.Name)
	take := func(now *wire.Host, err error) error {
		if err == nil {
			h = now
		}
		return err
	}
	if calls.Unbind {
		return h, take(r.Service.UnbindHost(ctx, h.InfraEnvID, h.ID, owned))
	}
	if calls.Bind != uuid.Nil {
		if err := take(r.Service.BindHost(ctx, h.InfraEnvID, h.ID, calls.Bind, owned)); err != nil {
			return h, err
		}
	}
	if calls.InstallerArgs != nil {
		if err := take(r.Service.SetInstallerArgs(ctx, h.InfraEnvID, h.ID, *calls.InstallerArgs, owned)); err != nil {
			return h, err
		}
	}
	if calls.Ignition != nil {
		if err := r.Service.SetHostIgnition(ctx, h.InfraEnvID, h.ID, *calls.Ignition, owned); err != nil {
			return h, err
		}
	}
	if calls.Update != nil {
		return h, take(r.Service.UpdateHost(ctx, h.InfraEnvID, h.ID, *calls.Update, owned))
	}
	return h, nil
}

// describe sets the labels and annotations of an Agent, and its finalizer.
func describe(in Inputs) error {
	labels, err := Labels(in)
	if err != nil {
		return err
	}
	a := in.Resource
	for key, value := range labels {
		metav1.SetMetaDataLabel(&a.ObjectMeta, key, value)
	}
	for key, value := range Annotations(in.Host) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, key, value)
	}
	metav1.SetMetaDataLabel(&a.ObjectMeta, resource.BackupLabel, "true")
	controllerutil.AddFinalizer(a, agentinstall.AgentFinalizer)
	return nil
}

func (r *Reconciler) writeStatus(ctx context.Context, before, a *agentinstall.Agent) error {
	if equality.Semantic.DeepEqual(before.Status, a.Status) {
		return nil
	}
	if err := r.Kube.Status().Patch(ctx, a, kube.MergeFrom(before)); err != nil {
		return err
	}
	was, is := before.Status.Progress.CurrentStage, a.Status.Progress.CurrentStage
	resource.Announce(r.Events, a, before.Status.DebugInfo, a.Status.DebugInfo, was, is)
	return nil
}

// finalize lets an Agent go once the service has forgotten its host. A host that still runs the discovery image registers again.
func (r *Reconciler) finalize(ctx context.Context, a *agentinstall.Agent, h *wire.Host) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(a, agentinstall.AgentFinalizer) {
		return reconcile.Result{}, nil
	}
	before := a.DeepCopy()
	if h != nil {
		err := r.Service.DeleteHost(ctx, h.InfraEnvID, h.ID, client.WithKubeKey(a.Namespace, a.Name))
		switch {
		case err == nil, errors.Is(err, model.ErrNotFound):
		case resource.IsInput(err): // such as a host that is being installed
			in := Inputs{Resource: a, Host: h}
			status, statusErr := Status(in, r.Service.BaseURL(), err, resource.Now(r.Now()))
			if statusErr != nil {
				return reconcile.Result{}, statusErr
			}
			a.Status = status
			return reconcile.Result{RequeueAfter: resource.Again}, r.writeStatus(ctx, before, a)
		default:
			return reconcile.Result{}, err
		}
	}
	r.hidden.Forget(a.UID)
	controllerutil.RemoveFinalizer(a, agentinstall.AgentFinalizer)
	return reconcile.Result{}, kube.IgnoreNotFound(r.Kube.Patch(ctx, a, kube.MergeFrom(before)))
}
