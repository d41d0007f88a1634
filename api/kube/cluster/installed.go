package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// write makes a manifest, in place of an older one.
func (r *Reconciler) write(ctx context.Context, in *Inputs, name, content string, has map[string]string) error {
	if _, exists := has[name]; exists {
		if err := r.Service.DeleteManifest(ctx, in.Cluster.ID, folder, name, owned(in)); err != nil {
			return err
		}
	}
	_, err := r.Service.CreateManifest(ctx, in.Cluster.ID, wire.CreateManifestParams{
		Folder: wire.CreateManifestParamsFolder(folder), FileName: name, Content: base64.StdEncoding.EncodeToString([]byte(content)),
	}, owned(in))
	return err
}

// firstKubeconfig makes the Secret with the kubeconfig while the cluster has no ingress yet.
func (r *Reconciler) firstKubeconfig(ctx context.Context, in *Inputs) error {
	if in.Install.Spec.ClusterMetadata != nil {
		return nil
	}
	name, err := r.kubeconfig(ctx, in, "kubeconfig-noingress")
	switch {
	case errors.Is(err, model.ErrNotFound), errors.Is(err, model.ErrConflict):
		return nil // it is not made yet
	case err != nil:
		return err
	}
	in.Install.Spec.ClusterMetadata = metadata(in, name)
	return nil
}

func metadata(in *Inputs, kubeconfig string) *hiveext.ClusterMetadata {
	return &hiveext.ClusterMetadata{
		ClusterID: in.Cluster.OpenshiftClusterID.String(), InfraID: in.Cluster.ID.String(),
		AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: kubeconfig},
	}
}

func (r *Reconciler) kubeconfig(ctx context.Context, in *Inputs, file string) (string, error) {
	content, err := r.Service.ClusterCredentialsFile(ctx, in.Cluster.ID, file)
	if err != nil {
		return "", err
	}
	name := in.Deployment.Name + "-admin-kubeconfig"
	return name, r.secret(ctx, in, name, "kubeconfig", map[string][]byte{"kubeconfig": content})
}

// installed makes the Secrets of an installed cluster, and describes it; afterwards the cluster takes other hosts.
func (r *Reconciler) installed(ctx context.Context, in *Inputs) error {
	if isInstalled(in) {
		c, err := r.Service.AllowAddHosts(ctx, in.Cluster.ID, owned(in))
		if err == nil {
			in.Cluster = c
		}
		return err
	}
	credentials, err := r.Service.Credentials(ctx, in.Cluster.ID)
	if err != nil {
		return err
	}
	password := in.Deployment.Name + "-admin-password"
	if err := r.secret(ctx, in, password, "kubeadmincreds", map[string][]byte{
		"username": []byte(credentials.Username), "password": []byte(credentials.Password),
	}); err != nil {
		return err
	}
	kubeconfig, err := r.kubeconfig(ctx, in, "kubeconfig")
	if err != nil {
		return err
	}
	in.Install.Spec.ClusterMetadata = metadata(in, kubeconfig)
	in.Install.Spec.ClusterMetadata.AdminPasswordSecretRef = &corev1.LocalObjectReference{Name: password}
	return nil
}

// secret makes a Secret of the ClusterDeployment, or gives it the content.
func (r *Reconciler) secret(ctx context.Context, in *Inputs, name, kind string, data map[string][]byte) error {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: in.Deployment.Namespace, Name: name, Labels: map[string]string{
			hive.DeploymentNameLabel: in.Deployment.Name, hive.SecretTypeLabel: kind, resource.WatchLabel: "true",
		},
	}, Data: data}
	if err := controllerutil.SetOwnerReference(in.Deployment, s, r.Kube.Scheme()); err != nil {
		return fmt.Errorf("name the owner of Secret %s: %w", name, err)
	}
	err := r.Kube.Create(ctx, s)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	found := &corev1.Secret{}
	if err := r.API.Get(ctx, kube.ObjectKeyFromObject(s), found); err != nil {
		return fmt.Errorf("read Secret %s: %w", name, err)
	}
	if found.Labels[hive.DeploymentNameLabel] != in.Deployment.Name { // a user's
		return &resource.InputError{Err: fmt.Errorf("require no Secret %s that others made, found one without the label %s: %s",
			name, hive.DeploymentNameLabel, in.Deployment.Name)}
	}
	before := found.DeepCopy()
	found.Data = data
	return r.Kube.Patch(ctx, found, kube.MergeFrom(before))
}

// join installs approved hosts into a cluster that exists.
func (r *Reconciler) join(ctx context.Context, in *Inputs) error {
	for _, h := range Joining(*in) {
		if _, err := r.Service.InstallHost(ctx, h.InfraEnvID, h.ID, owned(in)); err != nil {
			return fmt.Errorf("install host %s: %w", h.ID, err)
		}
	}
	return nil
}

// running lists the statuses of installations that have to be cancelled before their clusters go.
var running = map[wire.ClusterStatus]bool{
	wire.ClusterStatusPreparingForInstallation: true, wire.ClusterStatusInstalling: true, wire.ClusterStatusFinalizing: true,
	wire.ClusterStatusInstallingPendingUserAction: true,
}

// finalize lets an AgentClusterInstall go once its installation is cancelled, its hosts have left and the service has forgotten the
// cluster.
func (r *Reconciler) finalize(ctx context.Context, in Inputs) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(in.Install, hiveext.AgentClusterInstallFinalizer) {
		return reconcile.Result{}, nil
	}
	if in.Cluster != nil && running[in.Cluster.Status] {
		_, err := r.Service.CancelCluster(ctx, in.Cluster.ID, owned(&in))
		if errors.Is(err, model.ErrConflict) { // it is being cancelled, or has ended
			err = nil
		}
		return reconcile.Result{RequeueAfter: resource.Late}, err
	}
	for n := range in.Agents {
		if err := r.leave(ctx, &in.Agents[n]); err != nil {
			return reconcile.Result{}, err
		}
	}
	if in.Cluster != nil {
		err := r.Service.DeleteCluster(ctx, in.Cluster.ID, owned(&in))
		switch {
		case errors.Is(err, model.ErrConflict): // such as one that is being cancelled
			return reconcile.Result{RequeueAfter: resource.Late}, nil
		case err != nil && !errors.Is(err, model.ErrNotFound):
			return reconcile.Result{}, err
		}
		r.Index.Set(objects.Cluster, kube.ObjectKeyFromObject(in.Deployment), uuid.Nil)
	}
	r.applied.Forget(in.Install.UID)
	r.attempted.Forget(in.Install.UID)
	return reconcile.Result{}, r.release(ctx, in.Install, hiveext.AgentClusterInstallFinalizer)
}

// leave takes an Agent out of the cluster. One of an InfraEnv that belongs to the cluster is deleted: it can have no other.
func (r *Reconciler) leave(ctx context.Context, a *agentinstall.Agent) error {
	env := &agentinstall.InfraEnv{}
	err := r.Kube.Get(ctx, kube.ObjectKey{Namespace: a.Namespace, Name: a.Labels[agentinstall.InfraEnvLabel]}, env)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && env.Spec.ClusterRef != nil {
		return kube.IgnoreNotFound(r.Kube.Delete(ctx, a))
	}
	before := a.DeepCopy()
	a.Spec.ClusterDeploymentName = nil
	return kube.IgnoreNotFound(r.Kube.Patch(ctx, a, kube.MergeFrom(before)))
}
