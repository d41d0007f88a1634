package agentinstall

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// NMStateConfig configures the network of one host from its discovery on.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nmstateconfigs
// +kubebuilder:subresource:status
type NMStateConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the configuration and the host it is for.
	Spec NMStateConfigSpec `json:"spec,omitempty"`
}

// NMStateConfigList is a list of NMStateConfigs.
//
// +kubebuilder:object:root=true
type NMStateConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NMStateConfig `json:"items"`
}

// NMStateConfigSpec is the configuration of the host that has one of the interfaces.
type NMStateConfigSpec struct {
	// Interfaces gives the names that config uses to network cards: a host that has one of them takes the configuration.
	// +kubebuilder:validation:MinItems=1
	// +optional
	Interfaces []Interface `json:"interfaces,omitempty"`
	// NetConfig is a state as NMState reads it.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	NetConfig runtime.RawExtension `json:"config,omitempty"`
}

// Interface is a network card.
type Interface struct {
	// Name in config.
	Name string `json:"name"`
	// MacAddress of the card.
	// +kubebuilder:validation:Pattern=`^([0-9A-Fa-f]{2}[:]){5}([0-9A-Fa-f]{2})$`
	MacAddress string `json:"macAddress"`
}
