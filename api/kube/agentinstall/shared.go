package agentinstall

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Condition is one fact about a resource.
type Condition struct {
	// Type of the condition, such as SpecSynced.
	Type ConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// Reason for programs, one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message for people.
	// +optional
	Message string `json:"message,omitempty"`
	// LastHeartbeatTime is when the condition was last written.
	// +optional
	LastHeartbeatTime metav1.Time `json:"lastHeartbeatTime,omitempty"`
	// LastTransitionTime is when the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ConditionType names a condition.
type ConditionType string

// ClusterReference names a ClusterDeployment.
type ClusterReference struct {
	// Name of the ClusterDeployment.
	// +optional
	Name string `json:"name,omitempty"`
	// Namespace of the ClusterDeployment.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// Is reports whether it names a ClusterDeployment; nil names none.
func (r *ClusterReference) Is(key types.NamespacedName) bool {
	return r != nil && r.Name == key.Name && r.Namespace == key.Namespace
}

// ObjectReference names a ConfigMap or Secret of any namespace.
type ObjectReference struct {
	// Name of the object.
	Name string `json:"name"`
	// Namespace of the object.
	Namespace string `json:"namespace"`
}

// Proxy is how hosts reach other networks.
type Proxy struct {
	// HTTPProxy is the URL of the proxy for http requests: http://<user>:<password>@<host>:<port>.
	// +optional
	HTTPProxy string `json:"httpProxy,omitempty"`
	// HTTPSProxy is the URL of the proxy for https requests; HTTPProxy if empty.
	// +optional
	HTTPSProxy string `json:"httpsProxy,omitempty"`
	// NoProxy has the names, domains, addresses and networks that are reached without a proxy, separated by commas; * for all.
	// +optional
	NoProxy string `json:"noProxy,omitempty"`
}

// ValidationResults are the results of one group of validations.
type ValidationResults []ValidationResult

// ValidationsStatus has the results of validations by group, such as hardware and network.
type ValidationsStatus map[string]ValidationResults

// ValidationResult has the verdict of one validation.
type ValidationResult struct {
	// ID of the validation, such as has-min-cpu-cores.
	ID string `json:"id"`
	// Status is success, failure, pending, error or disabled.
	Status string `json:"status"`
	// Message says what is required and what was found.
	Message string `json:"message"`
}
