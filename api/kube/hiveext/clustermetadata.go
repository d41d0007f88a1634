package hiveext

import corev1 "k8s.io/api/core/v1"

// ClusterMetadata describes an installed cluster. It equals hive's.
type ClusterMetadata struct {
	// ClusterID that the cluster reports telemetry with.
	ClusterID string `json:"clusterID"`
	// InfraID is the name that infrastructure is made with.
	InfraID string `json:"infraID"`
	// AdminKubeconfigSecretRef names the Secret with the administrator's kubeconfig.
	AdminKubeconfigSecretRef corev1.LocalObjectReference `json:"adminKubeconfigSecretRef"`
	// AdminPasswordSecretRef names the Secret with the password of kubeadmin.
	// +optional
	AdminPasswordSecretRef *corev1.LocalObjectReference `json:"adminPasswordSecretRef,omitempty"`
	// MetadataJSONSecretRef names the Secret with the installer's metadata.json.
	// +optional
	MetadataJSONSecretRef *corev1.LocalObjectReference `json:"metadataJSONSecretRef,omitempty"`
	// Platform is about clouds, which agents are not installed on.
	// +optional
	Platform *ClusterPlatformMetadata `json:"platform,omitempty"`
}

// ClusterPlatformMetadata describes a cluster on a cloud.
type ClusterPlatformMetadata struct {
	// AWS is about Amazon's cloud.
	// +optional
	AWS *AWSClusterMetadata `json:"aws,omitempty"`
	// Azure is about Microsoft's cloud.
	// +optional
	Azure *AzureClusterMetadata `json:"azure,omitempty"`
	// GCP is about Google's cloud.
	// +optional
	GCP *GCPClusterMetadata `json:"gcp,omitempty"`
}

// AWSClusterMetadata is about Amazon's cloud.
type AWSClusterMetadata struct {
	// HostedZoneRole is the role that owns the hosted zone.
	// +optional
	HostedZoneRole *string `json:"hostedZoneRole,omitempty"`
}

// AzureClusterMetadata is about Microsoft's cloud.
type AzureClusterMetadata struct {
	// ResourceGroupName of the cluster.
	ResourceGroupName *string `json:"resourceGroupName"`
}

// GCPClusterMetadata is about Google's cloud.
type GCPClusterMetadata struct {
	// NetworkProjectID of a shared network.
	// +optional
	NetworkProjectID *string `json:"networkProjectID,omitempty"`
}
