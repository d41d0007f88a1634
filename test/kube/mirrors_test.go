package kube_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/testing/await"
)

const (
	mirrorsOf = "[[registry]]\nlocation = \"quay.io/ocp/release\"\n[[registry.mirror]]\nlocation = \""
	byTag     = "\"\n[[registry.mirror]]\nlocation = \"mirror.example.com/tags\"\npull-from-mirror = \"tag-only\"\n"
)

// The mirrors of a ConfigMap come to the discovery image and to the cluster: late, changed, and taken away.
func TestMirrorsOfAConfigMap(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	ref := &agentinstall.ObjectReference{Namespace: "slipway", Name: "mirrors"} // of another namespace than the resources
	require.NoError(t, tr.kube.Create(ctx, secret("pull", pullSecret)))
	require.NoError(t, tr.kube.Create(ctx, &agentinstall.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "env"},
		Spec:       agentinstall.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, MirrorRegistryRef: ref},
	}))
	require.NoError(t, tr.kube.Create(ctx, &hive.ClusterImageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "release"}, Spec: hive.ClusterImageSetSpec{ReleaseImage: releaseImage(t, tr.service)},
	}))
	require.NoError(t, tr.kube.Create(ctx, &hiveext.AgentClusterInstall{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"},
		Spec: hiveext.AgentClusterInstallSpec{
			ClusterDeploymentRef: corev1.LocalObjectReference{Name: "lab"}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
			ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1}, MirrorRegistryRef: ref,
		},
	}))
	tr.Apply(t, "one", clusterDeployment("lab"))
	const missing = "require ConfigMap slipway/mirrors, found none"
	tr.awaitCondition(t, "False", "ImageCreationError", "Failed to create image: "+missing)
	tr.awaitInstall(t, "SpecSynced", "False", "InputError", inputFault+missing)

	mirrors := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}, Data: map[string]string{"registries.conf": "[[registry]"},
	}
	require.NoError(t, tr.kube.Create(ctx, mirrors))
	tr.awaitInstall(t, "SpecSynced", "False", "InputError", "")
	change := func(location string) {
		before := mirrors.DeepCopy()
		mirrors.Data["registries.conf"] = mirrorsOf + location + byTag
		require.NoError(t, tr.kube.Patch(ctx, mirrors, kube.MergeFrom(before)))
	}
	image := func(location string) bool {
		env := tr.found(t)
		if env == nil {
			return false
		}
		config, err := tr.service.DiscoveryIgnition(ctx, env.ID)
		require.NoError(t, err)
		content, found := fileOf(t, config, "/etc/containers/registries.conf")
		return location == "" && !found || found && content == mirrorsOf+location+byTag
	}
	cluster := func(overrides, tags string) bool {
		c := tr.defined(t)
		if c == nil || c.InstallConfigOverrides != overrides {
			return false
		}
		content, err := tr.service.Manifest(ctx, c.ID, "openshift", "image-tag-mirror-set.yaml")
		return tags == "" && err != nil || err == nil && string(content) == tags
	}
	const tags = `{"apiVersion":"config.openshift.io/v1","kind":"ImageTagMirrorSet","metadata":{"name":"slipway"},` +
		`"spec":{"imageTagMirrors":[{"mirrors":["mirror.example.com/tags"],"source":"quay.io/ocp/release"}]}}`
	for _, location := range []string{"mirror.example.com/ocp", "other.example.com/ocp"} {
		change(location)
		await.True(t, func() bool { return image(location) }, "the image has no mirror "+location)
		await.True(t, func() bool {
			return cluster(`{"imageDigestSources":[{"mirrors":["`+location+`"],"source":"quay.io/ocp/release"}]}`, tags)
		}, "the cluster has no mirror "+location)
	}
	tr.awaitInstall(t, "SpecSynced", "True", "SyncOK", specApplied)
	tr.changeInstall(t, func(i *hiveext.AgentClusterInstall) { i.Spec.MirrorRegistryRef = nil })
	env := tr.env(t)
	before := env.DeepCopy()
	env.Spec.MirrorRegistryRef = nil
	require.NoError(t, tr.kube.Patch(ctx, env, kube.MergeFrom(before)))
	await.True(t, func() bool { return image("") && cluster("", "") }, "the mirrors stay")
}

// fileOf returns a file of an Ignition config.
func fileOf(t *testing.T, config []byte, path string) (content string, found bool) {
	t.Helper()
	parsed, err := document.Parse(config)
	require.NoError(t, err)
	file, err := parsed.File(path)
	if err != nil {
		return "", false
	}
	text, err := file.Content()
	require.NoError(t, err)
	return string(text), true
}
