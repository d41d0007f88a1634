package resource

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/objects"
)

// ClusterDeployments are hive's; only their names are read.
var ClusterDeployments = schema.GroupVersionKind{Group: "hive.openshift.io", Version: "v1", Kind: "ClusterDeployment"}

// References reads objects that resources refer to.
type References struct {
	// Kube reads from a cache; API reads Secrets that the cache does not have yet.
	Kube  kube.Client
	API   kube.Reader
	Index *objects.Index
}

// Cluster returns the cluster that a ClusterDeployment defines. Errors are a MissingDeploymentError, or an InputError where the service has
// no cluster of it yet.
func (r References) Cluster(ctx context.Context, key types.NamespacedName) (uuid.UUID, error) {
	deployment := &metav1.PartialObjectMetadata{}
	deployment.SetGroupVersionKind(ClusterDeployments)
	err := r.Kube.Get(ctx, key, deployment)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return uuid.Nil, &MissingDeploymentError{key}
	case err != nil:
		return uuid.Nil, fmt.Errorf("read ClusterDeployment %s: %w", key, err)
	}
	id, exists, err := r.Index.ID(ctx, objects.Cluster, key)
	if err == nil && !exists {
		err = &InputError{fmt.Errorf("the service has no cluster of ClusterDeployment %s yet: its AgentClusterInstall says why", key)}
	}
	return id, err
}

// Secret reads a Secret and lets the cache have it; a missing one is an InputError.
func (r References) Secret(ctx context.Context, key types.NamespacedName) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.Kube.Get(ctx, key, secret)
	if err == nil {
		return secret, nil
	}
	if apierrors.IsNotFound(err) {
		err = r.API.Get(ctx, key, secret)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, &InputError{fmt.Errorf("require Secret %s, found none", key)}
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w", key, err)
	}
	before := secret.DeepCopy()
	metav1.SetMetaDataLabel(&secret.ObjectMeta, WatchLabel, "true")
	if err := r.Kube.Patch(ctx, secret, kube.MergeFrom(before)); err != nil {
		return nil, fmt.Errorf("label Secret %s: %w", key, err)
	}
	return secret, nil
}
