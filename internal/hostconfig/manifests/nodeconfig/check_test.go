package nodeconfig_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/hostconfig/manifests/nodeconfig"
	"slipway/internal/model"
)

// recordedRuns returns how a real machine-config-controller (built in August 2026) ended with each manifest of the folder added to
// a cluster: empty, or the end of its last line.
func recordedRuns(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/recorded/outcomes.txt")
	require.NoError(t, err)
	runs := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, _, found := strings.Cut(lines.Text(), " rc ")
		require.True(t, found, lines.Text())
		_, runs[name], _ = strings.Cut(lines.Text(), "error running MCC[BOOTSTRAP]: ")
	}
	require.NoError(t, lines.Err())
	return runs
}

func TestManifestsAreRefusedAsTheRealControllerRefusedThem(t *testing.T) {
	t.Parallel()
	runs := recordedRuns(t)
	files, err := filepath.Glob("testdata/recorded/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 22)
	refused := 0
	for _, file := range files {
		name := filepath.Base(file)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		want, known := runs[name]
		require.True(t, known, name)
		err = manifests.CheckContent(name, content)
		// This run ended by a release version that the programs were built without; the manifest is right.
		if want == "" || name == "zz-featuregate.yaml" {
			require.NoError(t, err, name)
			continue
		}
		refused++
		require.ErrorIs(t, err, model.ErrInvalid, name)
		if _, cause, found := strings.Cut(want, " manifest: "); found { // the path before it belongs to that machine
			want = cause
		}
		want = strings.TrimPrefix(want, "could not update registries config with new changes: ")
		want = strings.TrimSuffix(want, " with error: config is not valid") // ours continues with the places
		require.ErrorContains(t, err, want, name)
	}
	require.Equal(t, 10, refused)
}

func machineConfig(spec string) string {
	return "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\n" +
		"metadata: {name: a, labels: {machineconfiguration.openshift.io/role: worker}}\nspec: " + spec + "\n"
}

func ignition(config string) string { return machineConfig("{config: " + config + "}") }

func object(version, kind, spec string) string {
	return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: " + spec + "\n"
}

func kubelet(spec string) string {
	return object("machineconfiguration.openshift.io/v1", "KubeletConfig", spec)
}

func crio(settings string) string {
	return object("machineconfiguration.openshift.io/v1", "ContainerRuntimeConfig", "{containerRuntimeConfig: "+settings+"}")
}

func TestObjectsThatTheControllerCannotRead(t *testing.T) {
	t.Parallel()
	const file = "storage: {files: [{path: /etc/x, "
	for name, c := range map[string]struct{ object, want string }{
		"a version that Ignition has and the controller lacks": {ignition(`{ignition: {version: 3.6.0}}`), "unknown version"},
		"a number as version": {ignition(`{ignition: {version: 3.2}}`), "Ignition"},
		"specification 1":     {ignition(`{ignition: {version: 1.0.0}}`), "unknown version"},
		"specification 2.3":   {ignition(`{ignition: {version: 2.3.0}}`), "unknown version"},
		"a path of 2.2 that is relative": {
			ignition(`{ignition: {version: 2.2.0}, storage: {files: [{path: x, filesystem: root}]}}`),
			"not absolute",
		},
		"a user of 2.2 other than core": {ignition(`{ignition: {version: 2.2.0}, passwd: {users: [{name: me}]}}`), "Only core user"},
		"another file system of 2.2": {
			ignition(`{ignition: {version: 2.2.0}, storage: {files: [{path: /x, filesystem: data}]}}`),
			"not root",
		},
		"a mode of 2.2 as text": {
			ignition(`{ignition: {version: 2.2.0}, storage: {files: [{path: /x, filesystem: root, mode: "420"}]}}`),
			"spec v2 failed",
		},
		"set-uid":                          {ignition(`{ignition: {version: 3.2.0}, ` + file + `mode: 2541}]}}`), "cannot exceed 0777"},
		"a mode with the type of the file": {ignition(`{ignition: {version: 3.2.0}, ` + file + `mode: 0o100644}]}}`), "illegal file mode"},
		"contents as text":                 {ignition(`{ignition: {version: 3.2.0}, ` + file + `contents: hello}]}}`), "spec v3 failed"},
		"a file twice": {
			ignition(`{ignition: {version: 3.2.0}, storage: {files: [{path: /a}, {path: /a}]}}`),
			"$.storage.files.1",
		},
		"an unknown scheme": {
			ignition(`{ignition: {version: 3.2.0}, ` + file + `contents: {source: "git://x/y"}}]}}`),
			"$.storage.files.0.contents.source",
		},
		"a unit without its kind": {
			ignition(`{ignition: {version: 3.4.0}, systemd: {units: [{name: x}]}}`),
			"$.systemd.units.0.name",
		},
		"a unit with a broken text": {
			ignition(`{ignition: {version: 3.4.0}, systemd: {units: [{name: x.service, contents: "[Unit"}]}}`),
			"$.systemd.units.0.contents",
		},
		"arguments to remove": {
			ignition(`{ignition: {version: 3.3.0}, kernelArguments: {shouldNotExist: [quiet]}}`),
			"shouldNotExist",
		},
		"the config as text":              {ignition(`'{"ignition": {"version": "3.2.0"}}'`), "Ignition"},
		"another kernel":                  {machineConfig(`{kernelType: rt}`), "kernelType=rt is invalid"},
		"sources of the default kernel":   {machineConfig(`{kernelType: realtime, extensions: [kernel-devel]}`), "kernel-devel"},
		"one extension as text":           {machineConfig(`{extensions: usbguard}`), "MachineConfigSpec.spec.extensions of type []string"},
		"fips as text":                    {machineConfig(`{fips: "true"}`), "MachineConfigSpec.spec.fips of type bool"},
		"a number among kernel arguments": {machineConfig(`{kernelArguments: [nosmt, 5]}`), "kernelArguments"},
		"a role as number": {
			strings.Replace(machineConfig("{}"), "role: worker", "role: 1", 1),
			"ObjectMeta.metadata.labels of type string",
		},
		"a name as number": {
			strings.Replace(machineConfig("{}"), "name: a", "name: 99", 1),
			"ObjectMeta.metadata.name of type string",
		},
		"annotations as list": {
			strings.Replace(machineConfig("{}"), "name: a,", "name: a, annotations: [x],", 1),
			"annotations",
		},
		"an operator of a selector": {
			object(
				"machineconfiguration.openshift.io/v1", "MachineConfigPool",
				`{machineConfigSelector: {matchExpressions: [{key: a, operator: Is, values: [b]}]}}`,
			),
			"invalid label selector",
		},
		"paused as text": {
			object("machineconfiguration.openshift.io/v1", "MachineConfigPool", `{paused: "no"}`),
			"paused of type bool",
		},
		"the log level of a kubelet": {kubelet(`{logLevel: 11}`), "LogLevel is not valid"},
		"what OpenShift sets":        {kubelet(`{kubeletConfig: {clusterDNS: [192.0.2.1]}}`), "clusterDNS is not allowed"},
		"feature gates of a kubelet": {kubelet(`{kubeletConfig: {featureGates: {A: true}}}`), "featureGates is not allowed"},
		"reserved twice": {
			kubelet(`{autoSizingReserved: true, kubeletConfig: {systemReserved: {cpu: 500m}}}`),
			"cannot be set together",
		},
		"a duration without unit": {kubelet(`{kubeletConfig: {nodeStatusUpdateFrequency: "10"}}`), "could not be unmarshalled"},
		"few processes":           {crio(`{pidsLimit: 19}`), "invalid PidsLimit 19"},
		"processes as text":       {crio(`{pidsLimit: "100"}`), "pidsLimit of type int64"},
		"small logs":              {crio(`{logSizeMax: 8192}`), "cannot be less than 8kB"},
		"an invalid size":         {crio(`{logSizeMax: big}`), "quantities must match"},
		"a negative size":         {crio(`{overlaySize: -1G}`), "invalid overlaySize"},
		"a log level of CRI-O":    {crio(`{logLevel: loud}`), `invalid LogLevel "loud"`},
		"another runtime":         {crio(`{defaultRuntime: kata}`), `invalid DefaultRuntime "kata"`},
		"a mirror with a tag": {
			object("config.openshift.io/v1", "ImageTagMirrorSet", `{imageTagMirrors: [{source: quay.io/a, mirrors: ["mirror:5000/a:1"]}]}`),
			"invalid format for mirror",
		},
		"a source with a scheme": {
			object("config.openshift.io/v1", "ImageDigestMirrorSet", `{imageDigestMirrors: [{source: "https://quay.io", mirrors: [m/x]}]}`),
			"invalid format for source",
		},
		"a wildcard with a path": {
			object("config.openshift.io/v1", "ImageDigestMirrorSet", `{imageDigestMirrors: [{source: "*.example.com/x", mirrors: [m/x]}]}`),
			"invalid format for source",
		},
		"no source": {
			object("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", `{repositoryDigestMirrors: [{mirrors: [m/x]}]}`),
			`invalid format for source ""`,
		},
		"mirrors as text": {
			object("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", `{repositoryDigestMirrors: [{source: quay.io, mirrors: m/x}]}`),
			"mirrors of type []string",
		},
		"two policies of a source": {
			object(
				"config.openshift.io/v1", "ImageDigestMirrorSet",
				`{imageDigestMirrors: [{source: a.io, mirrorSourcePolicy: NeverContactSource}, {source: a.io}]}`,
			),
			"conflicting mirrorSourcePolicy",
		},
		"a source that is its mirror": {
			object(
				"config.openshift.io/v1", "ImageTagMirrorSet",
				`{imageTagMirrors: [{source: a.io, mirrors: [a.io], mirrorSourcePolicy: NeverContactSource}]}`,
			),
			"cannot set mirrorSourcePolicy",
		},
		"a number in a ConfigMap": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 80}\n",
			"ConfigMap.data of type string",
		},
		"a secret that is not base64": {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: \"?\"}\n", "illegal base64"},
		"a label of a namespace as boolean": {
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {monitored: true}}\n",
			"ObjectMeta.metadata.labels of type string",
		},
		"a label of the image configuration": {
			"apiVersion: config.openshift.io/v1\nkind: Image\nmetadata: {name: cluster, labels: {a: 1}}\n",
			"labels of type string",
		},
		"an invalid time": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, creationTimestamp: yesterday}\n",
			"parsing time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, nodeconfig.Check([]byte(c.object)), c.want)
		})
	}
}

func TestObjectsThatTheControllerReads(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"no config at all": machineConfig(`{kernelArguments: [nosmt], fips: true}`),
		"a config of null": machineConfig(`{config: null}`),
		"every kernel":     machineConfig(`{kernelType: 64k-pages}`),
		"every extension":  machineConfig(`{extensions: [ipsec, kerberos, kernel-devel, sandboxed-containers, sysstat, usbguard, wasm]}`),
		"unknown members":  machineConfig(`{somethingNew: 1}`),
		"2.2 with a unit": ignition(
			`{ignition: {version: 2.2.0}, systemd: {units: [{name: a.service, enabled: true, contents: "[Unit]"}]}}`,
		),
		"a kubelet":             kubelet(`{kubeletConfig: {maxPods: 500, systemReserved: {cpu: 500m}, nodeStatusUpdateFrequency: 10s}}`),
		"an eviction as number": kubelet(`{kubeletConfig: {evictionHard: {memory.available: 5}}}`),
		"CRI-O":                 crio(`{pidsLimit: 4096, logSizeMax: 50M, overlaySize: 8G, logLevel: debug, defaultRuntime: crun}`),
		"a wildcard source": object(
			"config.openshift.io/v1", "ImageDigestMirrorSet",
			`{imageDigestMirrors: [{source: "*.example.com", mirrors: [m/x]}]}`,
		),
		"a mirror with a port": object(
			"config.openshift.io/v1", "ImageTagMirrorSet",
			`{imageTagMirrors: [{source: "quay.io:443/a/b", mirrors: ["m.example.com:5000/a/b__c-d"]}]}`,
		),
		"an older policy": object(
			"operator.openshift.io/v1alpha1", "ImageContentSourcePolicy",
			`{repositoryDigestMirrors: [{source: quay.io, mirrors: [m/x]}]}`,
		),
		"an object of another API": "apiVersion: example.com/v1\nkind: MachineConfig\nmetadata: {name: 1}\n",
		"a kind that is unknown":   "apiVersion: v1\nkind: Nothing\nmetadata: {name: 1}\n",
		"no object":                "a: 1\n",
		"a list":                   "[1, 2]\n",
		"JSON":                     `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"port":"80"}}`,
	}
	for _, version := range []string{"3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"} {
		good["Ignition "+version] = ignition(
			`{ignition: {version: ` + version + `}, storage: {files: [{path: /etc/x, mode: 420, contents: {source: "data:,x"}}]}}`,
		)
	}
	for name, text := range good {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, nodeconfig.Check([]byte(text)))
		})
	}
}

func TestEveryDocumentOfAFileIsRead(t *testing.T) {
	t.Parallel()
	bad := machineConfig(`{kernelType: rt}`)
	err := manifests.CheckContent("mine.yaml", []byte(machineConfig("{}")+"---\n# a comment\n---\n"+bad))
	require.EqualError(t, err,
		"content: the machine config controller cannot read document 2 of mine.yaml: MachineConfig: kernelType=rt is invalid")
	err = manifests.CheckContent("mine.json", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"port":80}}`))
	require.ErrorContains(t, err, "document 1 of mine.json: ConfigMap: json: cannot unmarshal number")
}
