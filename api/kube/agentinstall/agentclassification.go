package agentinstall

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditions of an AgentClassification.
const (
	QueryErrors ConditionType = "QueryErrors"

	ReasonNoQueryErrors  = "NoQueryErrors"
	ReasonHasQueryErrors = "HasQueryErrors"
)

// ClassificationLabel is the prefix of labels that AgentClassifications put on Agents.
const ClassificationLabel = "agentclassification.agent-install.openshift.io/"

// ClassificationFinalizer keeps an AgentClassification until no Agent has its label.
const ClassificationFinalizer = "agentclassification.agent-install.openshift.io"

// AgentClassification labels the Agents of its namespace whose inventory its query selects.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=agentclassifications
// +kubebuilder:subresource:status
type AgentClassification struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the query and its label.
	Spec AgentClassificationSpec `json:"spec,omitempty"`
	// Status counts Agents.
	Status AgentClassificationStatus `json:"status,omitempty"`
}

// AgentClassificationList is a list of AgentClassifications.
//
// +kubebuilder:object:root=true
type AgentClassificationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AgentClassification `json:"items"`
}

// AgentClassificationSpec is a query and its label.
//
// +kubebuilder:validation:XValidation:rule="self.labelKey == oldSelf.labelKey && self.labelValue == oldSelf.labelValue",message="require the label of the creation: Agents have it"
// +kubebuilder:validation:XValidation:rule="!self.labelValue.startsWith('QUERYERROR')",message="labelValue: require one that does not begin with QUERYERROR"
type AgentClassificationSpec struct {
	// LabelKey is the label without its prefix agentclassification.agent-install.openshift.io/.
	LabelKey string `json:"labelKey"`
	// LabelValue is the value that selected Agents get. It cannot begin with QUERYERROR.
	LabelValue string `json:"labelValue"`
	// Query is a jq program that reads an inventory and gives true or false.
	Query string `json:"query"`
}

// AgentClassificationStatus counts Agents.
type AgentClassificationStatus struct {
	// MatchedCount is how many Agents the query selects.
	// +optional
	MatchedCount int `json:"matchedCount,omitempty"`
	// ErrorCount is how many Agents the query ended with an error for.
	// +optional
	ErrorCount int `json:"errorCount,omitempty"`
	// Conditions has QueryErrors.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}
