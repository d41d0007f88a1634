// Package resource has the parts that the controllers of all resources share: references, errors of users, and conditions.
package resource

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/agentinstall"
	"slipway/internal/model"
)

const (
	// WatchLabel is put on Secrets and ConfigMaps that resources refer to: the cache has no others.
	WatchLabel = "agent-install.openshift.io/watch"
	// BackupLabel lets backups of a hub have an object (open-cluster-management.io/cluster-backup-operator).
	BackupLabel = "cluster.open-cluster-management.io/backup"
	// pauseAnnotation, with the value true, keeps a resource from being followed.
	pauseAnnotation = "hive.openshift.io/reconcile-pause"
	// Again is when a resource is looked at again that a user has to change; Late, when an object may have come that it refers to.
	Again = time.Minute
	Late  = 5 * time.Second
)

// UIPath is the path of Temporal's web UI below the root of a service.
const UIPath = "/temporal"

// Paused reports whether a user keeps a resource from being followed.
func Paused(o metav1.Object) bool { return o.GetAnnotations()[pauseAnnotation] == "true" }

// InputError is about the content of a resource, or about an object that it refers to.
type InputError struct{ Err error }

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// IsInput reports whether a user has to change something: the API has refused it, or it is an InputError.
func IsInput(err error) bool {
	var wrong *InputError
	return errors.As(err, &wrong) || errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrConflict) ||
		errors.Is(err, model.ErrUnprocessable)
}

// MissingDeploymentError says that a resource names a ClusterDeployment that does not exist.
type MissingDeploymentError struct{ Key types.NamespacedName }

// Error implements error.
func (e *MissingDeploymentError) Error() string {
	return "ClusterDeployment " + e.Key.String() + " is missing"
}

// Condition makes a condition that has its status since now.
func Condition(
	kind agentinstall.ConditionType, status corev1.ConditionStatus, reason, message string, now metav1.Time,
) agentinstall.Condition {
	return agentinstall.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now,
	}
}

// SetCondition changes the condition of its type in a list where it differs; the time of its transition stays while its status does.
func SetCondition(list *[]agentinstall.Condition, c agentinstall.Condition) {
	for n := range *list {
		found := &(*list)[n]
		if found.Type != c.Type {
			continue
		}
		if found.Status == c.Status {
			c.LastTransitionTime = found.LastTransitionTime
		}
		if found.Status != c.Status || found.Reason != c.Reason || found.Message != c.Message {
			*found = c
		}
		return
	}
	*list = append(*list, c)
}

// Now returns the time as resources have it, in seconds.
func Now(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

// Failing lists the messages of the validations that do not pass, in the order of their groups.
func Failing(results agentinstall.ValidationsStatus) string {
	var messages []string
	for _, group := range slices.Sorted(maps.Keys(results)) {
		for _, r := range results[group] {
			if r.Status != "success" && r.Status != "disabled" {
				messages = append(messages, r.Message)
			}
		}
	}
	return strings.Join(messages, ",")
}
