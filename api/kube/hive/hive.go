// Package hive has the fields of hive's resources that controllers use (openshift/hive, apis/hive/v1). The others stay as they are:
// resources are changed by patches. Their definitions are hive's own.
//
// +kubebuilder:object:generate=true
package hive

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the resources.
var GroupVersion = schema.GroupVersion{Group: "hive.openshift.io", Version: "v1"}

// AddToScheme registers the resources.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ClusterDeployment{}, &ClusterDeploymentList{}, &ClusterImageSet{}, &ClusterImageSetList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// DeploymentFinalizer keeps a ClusterDeployment until its AgentClusterInstall is gone.
const DeploymentFinalizer = "clusterdeployments.agent-install.openshift.io/ai-deprovision"

// Labels of Secrets that are made for a ClusterDeployment.
const (
	DeploymentNameLabel = "hive.openshift.io/cluster-deployment-name"
	SecretTypeLabel     = "hive.openshift.io/secret-type"
)

// ClusterDeployment is a cluster.
//
// +kubebuilder:object:root=true
type ClusterDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterDeploymentSpec `json:"spec,omitempty"`
}

// ClusterDeploymentList is a list of ClusterDeployments.
//
// +kubebuilder:object:root=true
type ClusterDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterDeployment `json:"items"`
}

// ClusterDeploymentSpec names a cluster and how it is installed.
type ClusterDeploymentSpec struct {
	ClusterName       string                       `json:"clusterName"`
	BaseDomain        string                       `json:"baseDomain"`
	Installed         bool                         `json:"installed,omitempty"`
	PullSecretRef     *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	ClusterInstallRef *ClusterInstallReference     `json:"clusterInstallRef,omitempty"`
}

// ClusterInstallReference names the resource that installs a cluster.
type ClusterInstallReference struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// ClusterImageSet is a release.
//
// +kubebuilder:object:root=true
type ClusterImageSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterImageSetSpec `json:"spec,omitempty"`
}

// ClusterImageSetList is a list of ClusterImageSets.
//
// +kubebuilder:object:root=true
type ClusterImageSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterImageSet `json:"items"`
}

// ClusterImageSetSpec names the image of a release.
type ClusterImageSetSpec struct {
	ReleaseImage string `json:"releaseImage"`
}
