package nodeconfig

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Groups and versions of which the controller decodes every object it finds.
var (
	machineConfiguration = schema.GroupVersion{Group: "machineconfiguration.openshift.io", Version: "v1"}
	clusterConfiguration = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	operatorsAlpha       = schema.GroupVersion{Group: "operator.openshift.io", Version: "v1alpha1"}
	core                 = corev1.SchemeGroupVersion
)

// kind is an object that the controller decodes.
type kind struct {
	schema.GroupVersion
	name string
}

// readers decode and judge the objects that configure nodes.
var readers = map[kind]func(object []byte) error{
	{machineConfiguration, "MachineConfig"}:          checkMachineConfig,
	{machineConfiguration, "MachineConfigPool"}:      checkPool,
	{machineConfiguration, "KubeletConfig"}:          checkKubeletConfig,
	{machineConfiguration, "ContainerRuntimeConfig"}: checkContainerRuntimeConfig,
	{clusterConfiguration, "ImageDigestMirrorSet"}:   checkDigestMirrors,
	{clusterConfiguration, "ImageTagMirrorSet"}:      checkTagMirrors,
	{operatorsAlpha, "ImageContentSourcePolicy"}:     checkSourcePolicy,
}

// decoded are the groups whose other objects have to have metadata of the right types.
var decoded = []schema.GroupVersion{machineConfiguration, clusterConfiguration, operatorsAlpha}

// Check reads one object, in YAML or JSON, and returns why the controller could not read it, in the controller's words.
// It returns nil for objects that the controller skips.
func Check(document []byte) error {
	object, err := yaml.YAMLToJSON(document)
	if err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	var is metav1.TypeMeta
	if fault := decode(object, &is); fault != nil {
		return nil //nolint:nilerr // no Kubernetes object: the controller does not know it
	}
	version, err := schema.ParseGroupVersion(is.APIVersion)
	if err != nil {
		return nil //nolint:nilerr // no Kubernetes object
	}
	if err := check(kind{version, is.Kind}, object); err != nil {
		return fmt.Errorf("%s: %w", is.Kind, err)
	}
	return nil
}

func check(k kind, object []byte) error {
	switch read, known := readers[k]; {
	case known:
		return read(object)
	case k.GroupVersion == core:
		return checkCore(k.name, object)
	case slices.Contains(decoded, k.GroupVersion):
		var other metav1.PartialObjectMetadata
		return decode(object, &other)
	}
	return nil
}

// checkCore decodes an object of Kubernetes' own group, of which the controller reads all.
func checkCore(name string, object []byte) error {
	known := runtime.NewScheme()
	if err := corev1.AddToScheme(known); err != nil {
		return fmt.Errorf("list the kinds of Kubernetes: %w", err)
	}
	into, err := known.New(core.WithKind(name))
	if err != nil {
		return nil //nolint:nilerr // unknown kinds are skipped
	}
	return decode(object, into)
}

// decode reads JSON as Kubernetes does: names of members are compared exactly, unknown members are left out. Its errors begin with
// "json: ".
func decode(object []byte, into any) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(object, into)
}

// quoted lists names for an error.
func quoted(names []string) string { return strings.Join(names, ", ") }
