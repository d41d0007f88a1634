package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"slipway/internal/model"
	"slipway/internal/wire"
)

var (
	openshiftConfig = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	operatorsCoreos = schema.GroupVersion{Group: "operators.coreos.com", Version: "v1alpha1"}

	clusterVersions        = openshiftConfig.WithResource("clusterversions")
	clusterOperators       = openshiftConfig.WithResource("clusteroperators")
	subscriptions          = operatorsCoreos.WithResource("subscriptions")
	clusterServiceVersions = operatorsCoreos.WithResource("clusterserviceversions")
)

// errNoOperator is returned when an operator does not exist in the cluster yet.
var errNoOperator = errors.New("no such operator")

// failedFor is how long an OLM operator must have failed to count as failed: some fail
// while what they depend on comes up (docs/reference/controller.md, "Finalizing": ten
// looks, 30 s apart).
const failedFor = 5 * time.Minute

func (c *controller) observeOperator(ctx context.Context, o wire.MonitoredOperator) (Operator, error) {
	switch {
	case o.OperatorType == wire.Olm:
		return c.observeOLM(ctx, o)
	case o.Name == clusterVersionOperator:
		version, err := c.clusterObject(ctx, clusterVersions, "version")
		if err != nil {
			return Operator{}, err
		}
		state := stateOf(version, "Failing")
		state.Version, _, _ = unstructured.NestedString(version.Object, "status", "desired", "version")
		return state, nil
	}
	operator, err := c.clusterObject(ctx, clusterOperators, o.Name)
	if errors.Is(err, errNoOperator) && o.Name == "console" {
		return c.absentConsole(ctx)
	}
	if err != nil {
		return Operator{}, err
	}
	state := stateOf(operator, "Degraded")
	state.Version = operandVersion(operator)
	return state, nil
}

func (c *controller) clusterObject(ctx context.Context, gvr schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	obj, err := c.dynamic.Resource(gvr).Get(ctx, name, metav1.GetOptions{})
	return obj, absent(err)
}

func absent(err error) error {
	if apierrors.IsNotFound(err) {
		return errNoOperator
	}
	return err
}

// absentConsole counts a console as available that the cluster is configured not to have (ClusterVersion
// capabilities): it would never be reported.
func (c *controller) absentConsole(ctx context.Context) (Operator, error) {
	version, err := c.clusterObject(ctx, clusterVersions, "version")
	if err != nil {
		return Operator{}, err
	}
	enabled, known, _ := unstructured.NestedStringSlice(version.Object, "status", "capabilities", "enabledCapabilities")
	if !known || slices.Contains(enabled, "Console") {
		return Operator{}, errNoOperator
	}
	return Operator{Status: model.OperatorAvailable, Info: "the Console capability is not enabled"}, nil
}

// stateOf reads the conditions of a ClusterOperator or the ClusterVersion; bad names
// the condition that means failure.
func stateOf(obj *unstructured.Unstructured, bad string) Operator {
	conditions := conditionsOf(obj)
	switch {
	case conditions[bad].is:
		return Operator{Status: model.OperatorFailed, Info: conditions[bad].message}
	case conditions["Available"].is:
		return Operator{Status: model.OperatorAvailable, Info: conditions["Available"].message}
	case conditions["Progressing"].message != "":
		return Operator{Status: model.OperatorProgressing, Info: conditions["Progressing"].message}
	}
	return Operator{Status: model.OperatorProgressing, Info: conditions["Available"].message}
}

type condition struct {
	is      bool
	message string
}

func conditionsOf(obj *unstructured.Unstructured) map[string]condition {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	found := make(map[string]condition, len(list))
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		kind, _ := fields["type"].(string)
		message, _ := fields["message"].(string)
		found[kind] = condition{is: fields["status"] == "True", message: message}
	}
	return found
}

func operandVersion(operator *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(operator.Object, "status", "versions")
	for _, entry := range list {
		if fields, _ := entry.(map[string]any); fields["name"] == "operator" {
			version, _ := fields["version"].(string)
			return version
		}
	}
	return ""
}

// observeOLM finds the ClusterServiceVersion that the subscription of an operator led to.
func (c *controller) observeOLM(ctx context.Context, o wire.MonitoredOperator) (Operator, error) {
	subscription, err := c.dynamic.Resource(subscriptions).Namespace(o.Namespace).Get(ctx, o.SubscriptionName, metav1.GetOptions{})
	if err != nil {
		return Operator{}, absent(err)
	}
	name, _, _ := unstructured.NestedString(subscription.Object, "status", "installedCSV")
	if name == "" {
		name, _, _ = unstructured.NestedString(subscription.Object, "status", "currentCSV")
	}
	if name == "" {
		return Operator{}, errNoOperator
	}
	csv, err := c.dynamic.Resource(clusterServiceVersions).Namespace(o.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Operator{}, absent(err)
	}
	return csvState(csv, c.Now()), nil
}

func csvState(csv *unstructured.Unstructured, now time.Time) Operator {
	phase, _, _ := unstructured.NestedString(csv.Object, "status", "phase")
	message, _, _ := unstructured.NestedString(csv.Object, "status", "message")
	version, _, _ := unstructured.NestedString(csv.Object, "spec", "version")
	state := Operator{Status: model.OperatorProgressing, Info: message, Version: version}
	switch phase {
	case "Succeeded":
		state.Status = model.OperatorAvailable
	case "Failed":
		changed, _, _ := unstructured.NestedString(csv.Object, "status", "lastTransitionTime")
		since, err := time.Parse(time.RFC3339, changed)
		if err == nil && now.Sub(since) >= failedFor {
			state.Status = model.OperatorFailed
		}
	}
	return state
}
