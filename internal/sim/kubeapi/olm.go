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

var (
	subscriptions   = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
	serviceVersions = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}
)

// RunOLM plays the operator lifecycle manager: each subscription gets an operator that
// succeeds. It looks every poll, 200 ms if zero, and ends with ctx.
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
