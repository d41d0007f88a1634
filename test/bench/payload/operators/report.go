package operators

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"slipway/test/bench/payload/kube"
)

var (
	openshiftConfig  = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	clusterOperators = openshiftConfig.WithResource("clusteroperators")
	clusterVersions  = openshiftConfig.WithResource("clusterversions")

	kinds = map[schema.GroupVersionResource]string{clusterOperators: "ClusterOperator", clusterVersions: "ClusterVersion"}
)

// inertia is how long something must not work to count as broken, as with real operators.
const inertia = 10 * time.Minute

// report writes the state of an operator, or of the cluster version, when it has changed.
func (o *Operators) report(ctx context.Context, what schema.GroupVersionResource, s Operator) error {
	objects := o.dynamic.Resource(what)
	found, err := objects.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		fields := map[string]any{"spec": map[string]any{}}
		if what == clusterVersions {
			fields["spec"] = map[string]any{"clusterID": o.Host.Plan.ClusterID}
		}
		found, err = objects.Create(ctx, kube.Object(openshiftConfig.String(), kinds[what], "", s.Name, fields), metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", kinds[what], s.Name, err)
	}
	before, _, _ := unstructured.NestedMap(found.Object, "status")
	status := o.status(what, s, found)
	if reflect.DeepEqual(before, status) {
		return nil
	}
	found.Object["status"] = status
	if _, err := objects.UpdateStatus(ctx, found, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("report %s %s: %w", kinds[what], s.Name, err)
	}
	return nil
}

func (o *Operators) status(what schema.GroupVersionResource, s Operator, found *unstructured.Unstructured) map[string]any {
	now := o.Host.Now()
	list, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	bad := "Degraded"
	if what == clusterVersions {
		bad = "Failing"
	}
	conditions := Conditions(list, s, bad, now)
	version := o.Host.Plan.Version
	if what == clusterOperators {
		return map[string]any{
			"conditions": conditions, "extension": nil, "relatedObjects": []any{},
			"versions": []any{map[string]any{"name": "operator", "version": version}},
		}
	}
	capabilities := []any{"Console", "Ingress"}
	entry := map[string]any{
		"state": "Partial", "startedTime": found.GetCreationTimestamp().UTC().Format(time.RFC3339), "completionTime": nil,
		"version": version, "image": o.Host.Plan.Release, "verified": false,
	}
	if s.Available {
		entry["state"] = "Completed"
		entry["completionTime"] = changedAt(conditions, "Available")
	}
	return map[string]any{
		"conditions": conditions, "desired": map[string]any{"version": version, "image": o.Host.Plan.Release},
		"observedGeneration": found.GetGeneration(), "versionHash": "bench", "availableUpdates": nil,
		"capabilities": map[string]any{"enabledCapabilities": capabilities, "knownCapabilities": capabilities},
		"history":      []any{entry},
	}
}

// Conditions makes the conditions of a state; before are the former ones, whose times last as long as their status does. bad is the name
// of the condition that means failure.
func Conditions(before []any, s Operator, bad string, now time.Time) []any {
	conditions := []any{}
	add := func(name string, is bool, message string) map[string]any {
		c := condition(before, name, is, now)
		c["message"] = message
		conditions = append(conditions, c)
		return c
	}
	available := add("Available", s.Available, s.Message)
	add("Progressing", s.Progressing, s.Message)
	since, err := time.Parse(time.RFC3339, available["lastTransitionTime"].(string))
	add(bad, err == nil && !s.Available && now.Sub(since) >= inertia, s.Message)
	return conditions
}

func condition(before []any, name string, is bool, now time.Time) map[string]any {
	status := "False"
	if is {
		status = "True"
	}
	c := map[string]any{"type": name, "status": status, "reason": "AsFound", "lastTransitionTime": now.UTC().Format(time.RFC3339)}
	for _, b := range before {
		if old, ok := b.(map[string]any); ok && old["type"] == name && old["status"] == status {
			c["lastTransitionTime"] = old["lastTransitionTime"]
		}
	}
	return c
}

func changedAt(conditions []any, name string) any {
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == name {
			return fields["lastTransitionTime"]
		}
	}
	return nil
}
