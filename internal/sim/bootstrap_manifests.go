package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/kubeapi"
)

// bootkubeApplies are the kinds that the cluster's own programs act on here; bootkube
// creates all manifests, of which the others would change nothing.
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

// assetsLimit is how long bootkube tries to create the manifests that the API refuses, after the control plane runs. It ends
// without the rest then (openshift/cluster-bootstrap, pkg/start/start.go).
const assetsLimit = time.Hour

// createManifests gives the cluster the manifests of its installation, from the bootstrap Ignition. It creates each by itself and tries
// again the refused ones, as openshift/library-go, pkg/assets/create does for bootkube.
func (m *Machine) createManifests(ctx context.Context, api string) error {
	objects, err := dynamic.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return fmt.Errorf("make the client of bootkube: %w", err)
	}
	left, err := m.installationManifests()
	if err != nil {
		return err
	}
	said := ""
	for range assetsLimit / look {
		var refused error
		if left, refused = createEach(ctx, objects, left); len(left) == 0 {
			return nil
		}
		if now := refused.Error(); now != said && ctx.Err() == nil {
			said = now
			m.log.Warn("manifests of the installation not created", "error", refused)
		}
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

// createEach creates objects, and returns those that were refused, and why.
func createEach(ctx context.Context, objects dynamic.Interface, wanted []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var left []*unstructured.Unstructured
	var refusals []error
	for _, obj := range wanted {
		var target dynamic.ResourceInterface = objects.Resource(bootkubeApplies[obj.GetKind()])
		if obj.GetNamespace() != "" {
			target = objects.Resource(bootkubeApplies[obj.GetKind()]).Namespace(obj.GetNamespace())
		}
		if err := create(ctx, target, obj); err != nil {
			left = append(left, obj)
			refusals = append(refusals, fmt.Errorf("create %s %s: %w", obj.GetKind(), obj.GetName(), err))
		}
	}
	return left, errors.Join(refusals...)
}

// create creates an object unless there is one, and gives it its status unless it has one. The status is a sub-resource
// (openshift/cluster-bootstrap, pkg/start/create.go).
func create(ctx context.Context, target dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
	made, err := target.Create(ctx, obj, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		made, err = target.Get(ctx, obj.GetName(), metav1.GetOptions{})
	}
	if err != nil || obj.Object["status"] == nil || made.Object["status"] != nil {
		return err
	}
	made.Object["status"] = obj.Object["status"]
	_, err = target.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
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
