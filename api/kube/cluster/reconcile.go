package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Service is the part of the API that a Reconciler calls.
type Service interface {
	BaseURL() string
	RegisterCluster(ctx context.Context, params wire.ClusterCreateParams, options ...client.Option) (*wire.Cluster, error)
	ImportCluster(ctx context.Context, params wire.ImportClusterParams, options ...client.Option) (*wire.Cluster, error)
	Cluster(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)
	UpdateCluster(ctx context.Context, id uuid.UUID, p wire.V2ClusterUpdateParams, options ...client.Option) (*wire.Cluster, error)
	UpdateInstallConfig(ctx context.Context, id uuid.UUID, overrides string, options ...client.Option) error
	IgnoreValidations(ctx context.Context, id uuid.UUID, p wire.IgnoredValidations, options ...client.Option) (wire.IgnoredValidations, error)
	ListManifests(ctx context.Context, id uuid.UUID, generated bool, options ...client.Option) ([]wire.Manifest, error)
	Manifest(ctx context.Context, id uuid.UUID, folder, name string, options ...client.Option) ([]byte, error)
	CreateManifest(ctx context.Context, id uuid.UUID, p wire.CreateManifestParams, options ...client.Option) (*wire.Manifest, error)
	DeleteManifest(ctx context.Context, id uuid.UUID, folder, name string, options ...client.Option) error
	InstallCluster(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)
	CancelCluster(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)
	ResetCluster(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)
	DeleteCluster(ctx context.Context, id uuid.UUID, options ...client.Option) error
	PauseCluster(ctx context.Context, id uuid.UUID, options ...client.Option) error
	ResumeCluster(ctx context.Context, id uuid.UUID, options ...client.Option) error
	ExtendCluster(ctx context.Context, id uuid.UUID, options ...client.Option) error
	AllowAddHosts(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)
	InstallHost(ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error)
	ClusterCredentialsFile(ctx context.Context, id uuid.UUID, name string, options ...client.Option) ([]byte, error)
	Credentials(ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Credentials, error)
}

// Reconciler follows ClusterDeployments with an AgentClusterInstall.
type Reconciler struct {
	resource.References

	Service Service
	Now     func() time.Time

	applied   resource.Taken
	attempted resource.Taken // generations of specs that an installation was begun with
}

// Reconcile lets the service and the statuses follow a ClusterDeployment and its AgentClusterInstall.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	in := Inputs{Deployment: &hive.ClusterDeployment{}, Install: &hiveext.AgentClusterInstall{}}
	d := in.Deployment
	if err := r.Kube.Get(ctx, request.NamespacedName, d); err != nil {
		return reconcile.Result{}, kube.IgnoreNotFound(err)
	}
	ref := d.Spec.ClusterInstallRef
	if ref == nil || ref.Group != hiveext.GroupVersion.Group || ref.Kind != "AgentClusterInstall" || resource.Paused(d) {
		return reconcile.Result{}, nil
	}
	err := r.Kube.Get(ctx, types.NamespacedName{Namespace: d.Namespace, Name: ref.Name}, in.Install)
	switch {
	case apierrors.IsNotFound(err):
		if d.DeletionTimestamp.IsZero() {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, r.release(ctx, d, hive.DeploymentFinalizer)
	case err != nil:
		return reconcile.Result{}, err
	case resource.Paused(in.Install):
		return reconcile.Result{}, nil
	}
	if in.Agents, err = r.agents(ctx, request.NamespacedName); err != nil {
		return reconcile.Result{}, err
	}
	if in.Cluster, err = r.found(ctx, request.NamespacedName); err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case !in.Install.DeletionTimestamp.IsZero():
		return r.finalize(ctx, in)
	case !d.DeletionTimestamp.IsZero():
		return reconcile.Result{}, kube.IgnoreNotFound(r.Kube.Delete(ctx, in.Install)) // its end wakes this again
	}
	if err := r.keep(ctx, in); err != nil {
		return reconcile.Result{}, err
	}
	return r.follow(ctx, in)
}

// keep puts finalizers on both resources, and names the ClusterDeployment as the owner.
func (r *Reconciler) keep(ctx context.Context, in Inputs) error {
	for _, c := range []struct {
		object kube.Object
		change func() bool
	}{
		{in.Deployment, func() bool { return controllerutil.AddFinalizer(in.Deployment, hive.DeploymentFinalizer) }},
		{in.Install, func() bool {
			owners := len(in.Install.OwnerReferences)
			_ = controllerutil.SetOwnerReference(in.Deployment, in.Install, r.Kube.Scheme()) // fails for types that are not registered
			return controllerutil.AddFinalizer(in.Install, hiveext.AgentClusterInstallFinalizer) || len(in.Install.OwnerReferences) != owners
		}},
	} {
		before := c.object.DeepCopyObject().(kube.Object) //nolint:forcetypeassert // a copy of an object is one
		if !c.change() {
			continue
		}
		if err := r.Kube.Patch(ctx, c.object, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
	}
	return nil
}

// release removes a finalizer.
func (r *Reconciler) release(ctx context.Context, o kube.Object, finalizer string) error {
	before := o.DeepCopyObject().(kube.Object) //nolint:forcetypeassert // a copy of an object is one
	if !controllerutil.RemoveFinalizer(o, finalizer) {
		return nil
	}
	return kube.IgnoreNotFound(r.Kube.Patch(ctx, o, kube.MergeFrom(before)))
}

// found returns the cluster that the ClusterDeployment defines; nil: none.
func (r *Reconciler) found(ctx context.Context, key types.NamespacedName) (*wire.Cluster, error) {
	id, exists, err := r.Index.ID(ctx, objects.Cluster, key)
	if err != nil || !exists {
		return nil, err
	}
	c, err := r.Service.Cluster(ctx, id)
	if errors.Is(err, model.ErrNotFound) { // an administrator deleted it
		r.Index.Set(objects.Cluster, key, uuid.Nil)
		return nil, nil //nolint:nilnil // none is no error
	}
	return c, err
}

// agents lists the Agents that name a ClusterDeployment.
func (r *Reconciler) agents(ctx context.Context, key types.NamespacedName) ([]agentinstall.Agent, error) {
	var list agentinstall.AgentList
	if err := r.Kube.List(ctx, &list, kube.MatchingFields{byDeployment: key.String()}); err != nil {
		return nil, fmt.Errorf("list Agents: %w", err)
	}
	return list.Items, nil
}

// byDeployment is the index of Agents by the ClusterDeployment that they name.
const byDeployment = "spec.clusterDeploymentName"

// deploymentOf returns the ClusterDeployment that an Agent names; zero: none.
func deploymentOf(a *agentinstall.Agent) types.NamespacedName {
	ref := a.Spec.ClusterDeploymentName
	if ref == nil {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// follow lets the cluster follow its resources, and the status the cluster.
func (r *Reconciler) follow(ctx context.Context, in Inputs) (reconcile.Result, error) {
	if err := resource.Obey(ctx, r.Kube, r.Events, in.Install, r.commands(&in)); err != nil {
		return reconcile.Result{}, err
	}
	before := in.Install.DeepCopy()
	problem := r.sync(ctx, &in)
	if !equality.Semantic.DeepEqual(in.Install.Spec, before.Spec) {
		if err := r.Kube.Patch(ctx, in.Install, kube.MergeFrom(before)); err != nil {
			return reconcile.Result{}, err
		}
		before = in.Install.DeepCopy()
	}
	status, err := Status(in, r.Service.BaseURL(), problem, resource.Now(r.Now()))
	if err != nil {
		return reconcile.Result{}, err
	}
	in.Install.Status = status
	if !equality.Semantic.DeepEqual(before.Status, status) {
		if err := r.Kube.Status().Patch(ctx, in.Install, kube.MergeFrom(before)); err != nil {
			return reconcile.Result{}, err
		}
		resource.Announce(r.Events, in.Install, before.Status.DebugInfo, status.DebugInfo, "", "")
	}
	switch {
	case problem == nil && in.Cluster != nil && in.Cluster.Status == wire.ClusterStatusInstalled:
		return reconcile.Result{RequeueAfter: time.Second}, nil // the cluster takes hosts once the status says that it is installed
	case problem == nil:
		return reconcile.Result{}, nil
	case resource.IsInput(problem):
		return reconcile.Result{RequeueAfter: resource.Again}, nil
	}
	return reconcile.Result{}, problem // with growing pauses
}

// sync does what the cluster's status asks for: settings and the begin of an installation before it, credentials during and after it, hosts
// that join afterwards.
func (r *Reconciler) sync(ctx context.Context, in *Inputs) error {
	if in.Cluster == nil && isInstalled(in) {
		if err := r.restore(ctx, in); err != nil {
			return err
		}
	}
	if in.Cluster != nil && in.Cluster.Kind == wire.ClusterKindAddHostsCluster {
		return r.join(ctx, in)
	}
	if in.Cluster == nil || changeable[in.Cluster.Status] {
		return r.prepare(ctx, in)
	}
	switch in.Cluster.Status {
	case wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing:
		return r.firstKubeconfig(ctx, in)
	case wire.ClusterStatusInstalled:
		return r.installed(ctx, in)
	}
	return nil
}

// changeable lists the statuses in which the API takes settings of a cluster.
var changeable = map[wire.ClusterStatus]bool{
	wire.ClusterStatusInsufficient: true, wire.ClusterStatusPendingForInput: true, wire.ClusterStatusReady: true,
}

// isInstalled reports whether a cluster was installed before, as the resources say.
func isInstalled(in *Inputs) bool {
	return in.Deployment.Spec.Installed || in.Install.Status.Reason(hiveext.Completed) == hiveext.ReasonInstallationCompleted
}

// prepare gives the cluster its settings, and begins its installation when it is ready.
func (r *Reconciler) prepare(ctx context.Context, in *Inputs) error {
	if err := r.read(ctx, in); err != nil {
		return err
	}
	if err := r.apply(ctx, in); err != nil {
		return err
	}
	generation, err := resource.DigestOf(in.Install.Generation)
	if err != nil {
		return err
	}
	in.Attempted = r.attempted.Has(in.Install.UID, generation)
	if !Ready(*in) {
		return nil
	}
	c, err := r.Service.InstallCluster(ctx, in.Cluster.ID, owned(in))
	if err != nil {
		return err
	}
	in.Cluster = c
	r.attempted.Set(in.Install.UID, generation)
	return nil
}

func owned(in *Inputs) client.Option {
	return client.WithKubeKey(in.Deployment.Namespace, in.Deployment.Name)
}

// apply registers the cluster, or updates it where the settings are not those that the service took last.
func (r *Reconciler) apply(ctx context.Context, in *Inputs) error {
	update, err := Update(*in)
	if err != nil {
		return &resource.InputError{Err: err}
	}
	digest, err := resource.DigestOf(struct {
		Settings  wire.V2ClusterUpdateParams
		Manifests map[string]string
	}{update, in.Manifests})
	if err != nil {
		return err
	}
	if in.Cluster == nil || !r.applied.Has(in.Install.UID, digest) {
		if err := r.settings(ctx, in, update); err != nil {
			return err
		}
		if err := r.manifests(ctx, in); err != nil {
			return err
		}
	}
	if in.Overrides != in.Cluster.InstallConfigOverrides {
		if err := r.Service.UpdateInstallConfig(ctx, in.Cluster.ID, in.Overrides, owned(in)); err != nil {
			return fmt.Errorf("annotation %s: %w", overridesAnnotation, err)
		}
	}
	if ignored, differs := Ignored(*in); differs {
		if _, err := r.Service.IgnoreValidations(ctx, in.Cluster.ID, ignored, owned(in)); err != nil {
			return fmt.Errorf("annotations of ignored validations: %w", err)
		}
	}
	r.applied.Set(in.Install.UID, digest)
	return nil
}

// settings registers or updates the cluster.
func (r *Reconciler) settings(ctx context.Context, in *Inputs, update wire.V2ClusterUpdateParams) error {
	if in.Cluster != nil {
		c, err := r.Service.UpdateCluster(ctx, in.Cluster.ID, update, owned(in))
		if err == nil {
			in.Cluster = c
		}
		return err
	}
	params, err := Create(*in)
	if err != nil {
		return &resource.InputError{Err: err}
	}
	c, err := r.Service.RegisterCluster(ctx, params, owned(in))
	if err := r.made(ctx, in, c, err); err != nil {
		return err
	}
	if in.Install.Status.Reason(hiveext.Completed) == hiveext.ReasonInstallationInProgress {
		r.Events.Eventf(in.Install, nil, corev1.EventTypeWarning, "InstallationLost", "Install", "%s", lost)
	}
	return nil
}

// made takes the answer to the request for a new cluster.
func (r *Reconciler) made(ctx context.Context, in *Inputs, c *wire.Cluster, err error) error {
	if err != nil {
		return errors.Join(err, r.Index.Load(ctx)) // another process may have made it
	}
	in.Cluster = c
	r.Index.Set(objects.Cluster, kube.ObjectKeyFromObject(in.Deployment), c.ID)
	return nil
}

// folder is where manifests of users go.
const folder = "openshift"

// manifests writes and removes the files of the cluster.
func (r *Reconciler) manifests(ctx context.Context, in *Inputs) error {
	list, err := r.Service.ListManifests(ctx, in.Cluster.ID, false)
	if err != nil {
		return err
	}
	has := map[string]string{}
	for _, m := range list {
		if string(m.Folder) != folder {
			continue
		}
		content, err := r.Service.Manifest(ctx, in.Cluster.ID, folder, m.FileName)
		if err != nil {
			return err
		}
		has[m.FileName] = string(content)
	}
	write, remove := Manifests(*in, has)
	for _, name := range remove {
		if err := r.Service.DeleteManifest(ctx, in.Cluster.ID, folder, name, owned(in)); err != nil {
			return err
		}
	}
	for name, content := range write {
		if err := r.write(ctx, in, name, content, has); err != nil {
			return fmt.Errorf("manifest %s: %w", name, err)
		}
	}
	return nil
}
