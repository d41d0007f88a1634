package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

const kernelConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: kernel, labels: {machineconfiguration.openshift.io/role: worker}}
spec: {kernelType: realtime}
`

func TestAManifestThatTheMachineConfigControllerCannotReadIsRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := clusterPath(s.cluster(nil).ID) + "/manifests"
	bad := kernelConfig + "---\n" + `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: a, labels: {machineconfiguration.openshift.io/role: worker}}
spec: {config: {ignition: {version: 3.9.0}}}
`
	body := map[string]any{"file_name": "a.yaml", "content": encoded(bad)}
	reason := s.send(http.MethodPost, path, body).Reason(http.StatusBadRequest)
	require.Contains(t, reason, "document 2 of a.yaml: MachineConfig: parsing Ignition config failed: unknown version")
	body["content"] = encoded(kernelConfig)
	s.want(http.StatusCreated, http.MethodPost, path, body)
	change := map[string]any{"folder": "manifests", "file_name": "a.yaml", "updated_content": encoded(bad)}
	reason = s.send(http.MethodPatch, path, change).Reason(http.StatusBadRequest)
	require.Contains(t, reason, "unknown version")
	stored := s.want(http.StatusOK, http.MethodGet, path+"/files?file_name=a.yaml", nil)
	require.Equal(t, kernelConfig, string(stored.Body), "the refused content is not kept")
}

func TestManifestsThatCannotBeReadTogetherAreAFaultOfTheCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	add := func(name, content string) {
		t.Helper()
		s.want(http.StatusCreated, http.MethodPost, path, map[string]any{"file_name": name, "content": encoded(content)})
	}
	fault := func() string {
		t.Helper()
		now, err := s.store.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		return now.ManifestFault
	}
	remove := func(name string) {
		t.Helper()
		s.want(http.StatusOK, http.MethodDelete, path+"?folder=manifests&file_name="+name, nil)
		require.Empty(t, fault(), "without "+name)
	}
	add("kernel.yaml", kernelConfig)
	require.Empty(t, fault())

	add("kernel.yaml.patch_1", "- {op: replace, path: /spec/kernelType, value: rt}")
	require.Contains(t, fault(), "document 1 of kernel.yaml: MachineConfig: kernelType=rt is invalid")
	remove("kernel.yaml.patch_1")

	add("kernel.yaml.patch_2", "- {op: test, path: /spec/kernelType, value: rt}")
	require.Contains(t, fault(), "apply patch kernel.yaml.patch_2")
	remove("kernel.yaml.patch_2")

	add("sources.yaml", `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: b, labels: {machineconfiguration.openshift.io/role: worker}}
spec: {extensions: [kernel-devel]}
`)
	require.Contains(t, fault(), "kernel-devel extension is not supported with kernelType: realtime")
	remove("sources.yaml")

	add("one.yaml", "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: a}\n"+
		"spec: {imageDigestMirrors: [{source: quay.io/x, mirrors: [m/x]}]}\n")
	require.Empty(t, fault())
	add("two.yaml", "apiVersion: config.openshift.io/v1\nkind: ImageTagMirrorSet\nmetadata: {name: b}\n"+
		"spec: {imageTagMirrors: [{source: quay.io/x, mirrors: [m/x], mirrorSourcePolicy: NeverContactSource}]}\n")
	require.Contains(t, fault(), "conflicting mirrorSourcePolicy")
	remove("two.yaml")

	add("nowhere.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	require.Contains(t, fault(), "document 1 of nowhere.yaml: require metadata.namespace of ConfigMap a, found none")
	add("nowhere.yaml.patch", "- {op: add, path: /metadata/namespace, value: default}")
	require.Empty(t, fault())

	add("other.yaml.patch", "- {op: remove, path: /a}") // of a file that the installer may make
	require.Empty(t, fault())
}
