// Package agentinstall has the resources of the group agent-install.openshift.io: what hive, cluster managers and GitOps write to define
// discovery images and hosts, and what they read of them. Names, types, defaults and enums equal the existing service's definitions;
// deploy/crds is generated from here.
//
// +kubebuilder:object:generate=true
// +groupName=agent-install.openshift.io
// +versionName=v1beta1
package agentinstall

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the resources.
var GroupVersion = schema.GroupVersion{Group: "agent-install.openshift.io", Version: "v1beta1"}

// AddToScheme registers the resources.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(
		GroupVersion, &InfraEnv{}, &InfraEnvList{}, &NMStateConfig{}, &NMStateConfigList{}, &Agent{}, &AgentList{},
		&AgentClassification{}, &AgentClassificationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
