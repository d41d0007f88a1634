package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/resource"
)

// read reads the objects that an AgentClusterInstall and its ClusterDeployment refer to.
func (r *Reconciler) read(ctx context.Context, in *Inputs) error {
	spec, namespace := &in.Install.Spec, in.Deployment.Namespace
	if in.Deployment.Spec.PullSecretRef == nil {
		return &resource.InputError{Err: errors.New("require spec.pullSecretRef of the ClusterDeployment, found none")}
	}
	secret, err := r.Secret(ctx, types.NamespacedName{Namespace: namespace, Name: in.Deployment.Spec.PullSecretRef.Name})
	if err != nil {
		return err
	}
	text, exists := secret.Data[corev1.DockerConfigJsonKey]
	if !exists {
		return &resource.InputError{Err: fmt.Errorf("require %s in Secret %s, found none", corev1.DockerConfigJsonKey, secret.Name)}
	}
	in.PullSecret = strings.TrimSpace(string(text))
	if spec.ImageSetRef == nil {
		return &resource.InputError{Err: errors.New("require spec.imageSetRef, found none")}
	}
	set := &hive.ClusterImageSet{}
	err = r.Kube.Get(ctx, types.NamespacedName{Name: spec.ImageSetRef.Name}, set)
	switch {
	case apierrors.IsNotFound(err):
		return &resource.InputError{Err: fmt.Errorf("require ClusterImageSet %s, found none", spec.ImageSetRef.Name)}
	case err != nil:
		return fmt.Errorf("read ClusterImageSet %s: %w", spec.ImageSetRef.Name, err)
	}
	in.ReleaseImage = set.Spec.ReleaseImage
	if spec.IgnitionEndpoint != nil && spec.IgnitionEndpoint.CaCertificateReference != nil {
		ref := spec.IgnitionEndpoint.CaCertificateReference
		secret, err := r.Secret(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
		if err != nil {
			return err
		}
		if in.EndpointCA = secret.Data[corev1.TLSCertKey]; len(in.EndpointCA) == 0 {
			return &resource.InputError{Err: fmt.Errorf("require %s in Secret %s/%s, found none", corev1.TLSCertKey, ref.Namespace, ref.Name)}
		}
	}
	in.Manifests = map[string]string{}
	for _, name := range configMapsOf(spec) {
		found, err := r.ConfigMap(ctx, types.NamespacedName{Namespace: namespace, Name: name})
		if err != nil {
			return err
		}
		if err := merge(in.Manifests, found.Data, "ConfigMap "+name); err != nil {
			return err
		}
	}
	mirrors, err := r.Mirrors(ctx, spec.MirrorRegistryRef)
	if err != nil {
		return err
	}
	return in.follow(mirrors)
}

// follow sets what mirrors, nil for none, add to the manifests and to the install-config.
func (in *Inputs) follow(mirrors *resource.Mirrors) error {
	overrides, err := mirrorOverrides(in.Install.Annotations[overridesAnnotation], mirrors)
	if err != nil {
		return &resource.InputError{Err: err}
	}
	in.Overrides = overrides
	files, err := mirrorManifests(mirrors)
	if err != nil {
		return err
	}
	return merge(in.Manifests, files, "spec.mirrorRegistryRef")
}

// configMapsOf lists the ConfigMaps with manifests.
func configMapsOf(spec *hiveext.AgentClusterInstallSpec) (names []string) {
	for _, ref := range spec.ManifestsConfigMapRefs {
		names = append(names, ref.Name)
	}
	if spec.ManifestsConfigMapRefs == nil && spec.ManifestsConfigMapRef != nil {
		return []string{spec.ManifestsConfigMapRef.Name}
	}
	return names
}
