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
	"k8s.io/client-go/tools/events"
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
	// Events records what users see of a resource beside its status.
	Events events.EventRecorder
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
	return secret, r.watched(ctx, "Secret", key, secret)
}

// ConfigMap reads a ConfigMap and lets the cache have it; a missing one is an InputError.
func (r References) ConfigMap(ctx context.Context, key types.NamespacedName) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	return found, r.watched(ctx, "ConfigMap", key, found)
}

// watched reads an object that the cache has once it is labelled.
func (r References) watched(ctx context.Context, kind string, key types.NamespacedName, into kube.Object) error {
	err := r.Kube.Get(ctx, key, into)
	if err == nil {
		return nil
	}
	if apierrors.IsNotFound(err) {
		err = r.API.Get(ctx, key, into)
	}
	switch {
	case apierrors.IsNotFound(err):
		return &InputError{fmt.Errorf("require %s %s, found none", kind, key)}
	case err != nil:
		return fmt.Errorf("read %s %s: %w", kind, key, err)
	}
	patch := kube.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+WatchLabel+`":"true","`+BackupLabel+`":"true"}}}`))
	if err := r.Kube.Patch(ctx, into, patch); err != nil {
		return fmt.Errorf("label %s %s: %w", kind, key, err)
	}
	return nil
}
