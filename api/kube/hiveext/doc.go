// Package hiveext has the resource of the group extensions.hive.openshift.io: how hive's ClusterDeployment is installed on hosts.
// Names, types, defaults and enums equal the existing service's definition; deploy/crds is generated from here.
//
// +kubebuilder:object:generate=true
// +groupName=extensions.hive.openshift.io
// +versionName=v1beta1
package hiveext

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the resource.
var GroupVersion = schema.GroupVersion{Group: "extensions.hive.openshift.io", Version: "v1beta1"}

// AddToScheme registers the resource.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &AgentClusterInstall{}, &AgentClusterInstallList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
