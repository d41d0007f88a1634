package wire

import "github.com/google/uuid"

// WorkflowState is where the workflow of a running installation stands. It is of our own
// API (api/slipway.yaml), not of the contract.
type WorkflowState struct {
	// Phase is preparing, installing or finalizing; cancelling, resetting or done at its end.
	Phase string `json:"phase"`
	// Paused says that hosts wait before their next stage until the command resume.
	Paused bool `json:"paused"`
	// TimedOut says that the phase took too long and waits for the command extend.
	TimedOut bool           `json:"timed_out"`
	Hosts    []WorkflowHost `json:"hosts"` // in the order of their ids
}

// WorkflowHost is where the workflow of one host stands.
type WorkflowHost struct {
	HostID uuid.UUID `json:"host_id"`
	// State is preparing, prepared, running, waiting-for-decision, done or gone.
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // why it waits or is gone
}

// WorkflowWaiting is the state of a host that failed and waits for the command retry,
// retry-step or evict.
const WorkflowWaiting = "waiting-for-decision"
