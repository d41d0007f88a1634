package hiveext

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
)

// Reason returns the reason of a condition; empty: the status does not have it.
func (s *AgentClusterInstallStatus) Reason(kind ConditionType) string {
	for n := range s.Conditions {
		if s.Conditions[n].Type == kind {
			return s.Conditions[n].Reason
		}
	}
	return ""
}

// AgentClusterInstallStatus is how far an installation is.
type AgentClusterInstallStatus struct {
	// Conditions as hive reads them.
	// +optional
	Conditions []ClusterInstallCondition `json:"conditions,omitempty"`
	// ControlPlaneAgentsDiscovered is how many hosts are control plane hosts.
	// +optional
	ControlPlaneAgentsDiscovered int `json:"controlPlaneAgentsDiscovered,omitempty"`
	// ControlPlaneAgentsReady is how many of them are ready.
	// +optional
	ControlPlaneAgentsReady int `json:"controlPlaneAgentsReady,omitempty"`
	// WorkerAgentsDiscovered is how many hosts are workers.
	// +optional
	WorkerAgentsDiscovered int `json:"workerAgentsDiscovered,omitempty"`
	// WorkerAgentsReady is how many of them are ready.
	// +optional
	WorkerAgentsReady int `json:"workerAgentsReady,omitempty"`
	// ConnectivityMajorityGroups has the hosts that reach each other, by network, in JSON.
	// +optional
	ConnectivityMajorityGroups string `json:"connectivityMajorityGroups,omitempty"`
	// DebugInfo has URLs and the state of the cluster in the service.
	// +optional
	DebugInfo agentinstall.DebugInfo `json:"debugInfo,omitempty"`
	// APIVIP of the cluster.
	// +optional
	APIVIP string `json:"apiVIP,omitempty"`
	// APIVIPs of the cluster.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	APIVIPs []string `json:"apiVIPs,omitempty"`
	// IngressVIP of the cluster.
	// +optional
	IngressVIP string `json:"ingressVIP,omitempty"`
	// IngressVIPs of the cluster.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	IngressVIPs []string `json:"ingressVIPs,omitempty"`
	// UserManagedNetworking says that somebody else cares for load balancers and DNS.
	// +optional
	UserManagedNetworking *bool `json:"userManagedNetworking,omitempty"`
	// PlatformType of the cluster.
	// +optional
	PlatformType PlatformType `json:"platformType,omitempty"`
	// ValidationsInfo has the results of all validations by group.
	// +optional
	ValidationsInfo agentinstall.ValidationsStatus `json:"validationsInfo,omitempty"`
	// MachineNetwork are the networks of the hosts.
	// +optional
	MachineNetwork []MachineNetworkEntry `json:"machineNetwork,omitempty"`
	// Progress of the installation.
	// +optional
	Progress *ClusterProgress `json:"progress,omitempty"`
}

// ClusterProgress is how far an installation is.
type ClusterProgress struct {
	// TotalPercentage of the installation.
	TotalPercentage int64 `json:"totalPercentage"`
}

// ClusterInstallCondition is one fact about an installation, as hive's ClusterInstall has it.
type ClusterInstallCondition struct {
	// Type of the condition, such as Completed.
	Type ConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// LastProbeTime is when the condition was last written.
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty"`
	// LastTransitionTime is when the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason for programs, one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message for people.
	// +optional
	Message string `json:"message,omitempty"`
}
