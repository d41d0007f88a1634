package kubeapi

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// simulatedOperatorVersion is the version of every operator that is subscribed to.
const simulatedOperatorVersion = "1.0.0"

// StuckAnnotation on a Subscription makes the Job that unpacks its bundle fail once.
const StuckAnnotation = "simulated.slipway/unpack-fails"

// catalogNamespace is where the catalogs are, and the Jobs that unpack their bundles.
const catalogNamespace = "openshift-marketplace"

var (
	jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	configMaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	installPlans = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "installplans"}
)

var (
	subscriptions   = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
	serviceVersions = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}
)

// RunOLM plays the operator lifecycle manager: each subscription gets an operator that
// succeeds. It looks every poll, 500 ms if zero, and ends with ctx.
func RunOLM(ctx context.Context, apiURL string, every time.Duration) error {
	if every <= 0 {
		every = defaultPoll
	}
	objects, err := dynamic.NewForConfig(Config(apiURL, UserAdmin))
	if err != nil {
		return fmt.Errorf("make client of the lifecycle manager: %w", err)
	}
	return poll(ctx, every, func(ctx context.Context) (bool, error) {
		list, err := objects.Resource(subscriptions).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			if err := subscribe(ctx, objects, &list.Items[i]); err != nil {
				return false, err
			}
		}
		return false, nil // there may be more later
	})
}

func subscribe(ctx context.Context, objects dynamic.Interface, s *unstructured.Unstructured) error {
	if name, _, _ := unstructured.NestedString(s.Object, "status", "installedCSV"); name != "" {
		return nil
	}
	if stuck, err := unpacking(ctx, objects, s); err != nil || stuck {
		return err
	}
	name := s.GetName() + ".v" + simulatedOperatorVersion
	versions := objects.Resource(serviceVersions).Namespace(s.GetNamespace())
	csv := newObject(serviceVersions, "ClusterServiceVersion", name)
	csv.Object["spec"] = map[string]any{"version": simulatedOperatorVersion}
	_, err := versions.Create(ctx, csv, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if csv, err = versions.Get(ctx, name, metav1.GetOptions{}); err != nil {
		return err
	}
	csv.Object["status"] = map[string]any{"phase": "Succeeded", "message": "install strategy completed with no errors"}
	if _, err = versions.UpdateStatus(ctx, csv, metav1.UpdateOptions{}); err != nil {
		return err
	}
	s.Object["status"] = map[string]any{"currentCSV": name, "installedCSV": name, "state": "AtLatestKnown"}
	_, err = objects.Resource(subscriptions).Namespace(s.GetNamespace()).UpdateStatus(ctx, s, metav1.UpdateOptions{})
	return err
}

// unpacking reports whether the bundle of a stuck subscription cannot be unpacked: its failed Job, ConfigMap and
// InstallPlan stay until somebody deletes all three. OLM tries no Job again that failed
// (operator-framework/operator-lifecycle-manager, issue 2265).
func unpacking(ctx context.Context, objects dynamic.Interface, s *unstructured.Unstructured) (bool, error) {
	if s.GetAnnotations()[StuckAnnotation] == "" {
		return false, nil
	}
	name := "unpack-" + s.GetName()
	left := []struct {
		at     dynamic.ResourceInterface
		object *unstructured.Unstructured
	}{
		{objects.Resource(configMaps).Namespace(catalogNamespace), newObject(configMaps, "ConfigMap", name)},
		{objects.Resource(jobs).Namespace(catalogNamespace), failedJob(name)},
		{objects.Resource(installPlans).Namespace(s.GetNamespace()), newObject(installPlans, "InstallPlan", "install-"+s.GetName())},
	}
	if state, _, _ := unstructured.NestedString(s.Object, "status", "state"); state == "UpgradePending" {
		for _, o := range left {
			if _, err := o.at.Get(ctx, o.object.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return true, err
			}
		}
		return false, nil
	}
	for _, o := range left {
		created, err := o.at.Create(ctx, o.object, metav1.CreateOptions{})
		if err != nil {
			return true, err
		}
		switch created.GetKind() {
		case "Job":
			created.Object["status"] = failedJobStatus
		case "InstallPlan":
			created.Object["status"] = map[string]any{"phase": "Failed"}
		default:
			continue
		}
		if _, err := o.at.UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
			return true, err
		}
	}
	s.Object["status"] = map[string]any{"state": "UpgradePending", "conditions": []any{
		map[string]any{"type": "BundleUnpackFailed", "status": "True", "reason": "BundleUnpackFailed"},
	}}
	_, err := objects.Resource(subscriptions).Namespace(s.GetNamespace()).UpdateStatus(ctx, s, metav1.UpdateOptions{})
	return true, err
}

func failedJob(name string) *unstructured.Unstructured {
	job := newObject(jobs, "Job", name)
	job.SetLabels(map[string]string{"operatorframework.io/bundle-unpack-ref": name})
	return job
}

var failedJobStatus = map[string]any{"conditions": []any{map[string]any{
	"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline",
}}}
