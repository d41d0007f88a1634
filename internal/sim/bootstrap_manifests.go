package sim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/kubeapi"
)

// bootkubeApplies are the kinds that the cluster's own programs act on here; bootkube
// applies all manifests, of which the others would change nothing.
var bootkubeApplies = map[string]schema.GroupVersionResource{
	"Secret":        {Version: "v1", Resource: "secrets"},    // the pod of the controller gets its token from one
	"ConfigMap":     {Version: "v1", Resource: "configmaps"}, // and its settings
	"Namespace":     {Version: "v1", Resource: "namespaces"},
	"OperatorGroup": {Group: "operators.coreos.com", Version: "v1", Resource: "operatorgroups"},
	"Subscription":  {Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"},
	// Its operator waits for the machines of the set; here as in a real cluster nothing makes them.
	"ControlPlaneMachineSet": {Group: "machine.openshift.io", Version: "v1", Resource: "controlplanemachinesets"},

	// Kubelets have an external cloud provider on some platforms.
	"Infrastructure": {Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"},
	"MachineConfig":  {Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"},

	"DaemonSet":          {Group: "apps", Version: "v1", Resource: "daemonsets"},
	"Job":                {Group: "batch", Version: "v1", Resource: "jobs"},
	"ClusterRole":        {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding": {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"BareMetalHost":      {Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"},
	"Provisioning":       {Group: "metal3.io", Version: "v1alpha1", Resource: "provisionings"},
	"MachineSet":         {Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"},
	"Machine":            {Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"},
}

// applyManifests gives the cluster the manifests of its installation, from the
// bootstrap Ignition; namespaces first.
func (m *Machine) applyManifests(ctx context.Context, api string) error {
	objects, err := dynamic.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return fmt.Errorf("make the client of bootkube: %w", err)
	}
	found, err := m.installationManifests()
	if err != nil {
		return err
	}
	for _, obj := range found {
		var target dynamic.ResourceInterface = objects.Resource(bootkubeApplies[obj.GetKind()])
		if obj.GetNamespace() != "" {
			target = objects.Resource(bootkubeApplies[obj.GetKind()]).Namespace(obj.GetNamespace())
		}
		if _, err := target.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "bootkube", Force: true}); err != nil {
			return fmt.Errorf("apply %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		if obj.Object["status"] == nil {
			continue
		}
		// The status is a sub-resource (openshift/cluster-bootstrap, pkg/start/create.go).
		if _, err := target.ApplyStatus(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "bootkube", Force: true}); err != nil {
			return fmt.Errorf("apply the status of %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
	}
	return nil
}

func (m *Machine) installationManifests() ([]*unstructured.Unstructured, error) {
	var files []string
	for _, folder := range []string{"manifests", "openshift"} {
		for _, ending := range []string{"yaml", "yml", "json"} {
			here, err := filepath.Glob(m.options.root().Path("/opt/openshift/" + folder + "/*." + ending))
			if err != nil {
				return nil, err
			}
			files = append(files, here...)
		}
	}
	var found []*unstructured.Unstructured
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			obj := &unstructured.Unstructured{}
			if documents.Decode(&obj.Object) != nil { // the end, or what the cluster would refuse
				break
			}
			gvr, known := bootkubeApplies[obj.GetKind()]
			if known && obj.GetAPIVersion() == gvr.GroupVersion().String() && obj.GetName() != "" {
				found = append(found, obj)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return found, nil
}

func rank(obj *unstructured.Unstructured) int {
	if obj.GetKind() == "Namespace" {
		return 0
	}
	return 1
}
