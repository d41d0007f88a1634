package model

import (
	"time"

	"github.com/google/uuid"
)

// InstructionKind tells what completes an instruction.
type InstructionKind string

// A step is run by an agent and completed by its reply; a stage is completed when the
// host reports it (or has passed it); a milestone is completed by a fact of the cluster.
const (
	InstructionStep      InstructionKind = "step"
	InstructionStage     InstructionKind = "stage"
	InstructionMilestone InstructionKind = "milestone"
)

// InstructionState is where an instruction is between the workflow and the host.
type InstructionState string

// pending -> sent -> reported -> done; superseded when another run of the workflow,
// a cancel or a reset made it void.
const (
	InstructionPending    InstructionState = "pending"
	InstructionSent       InstructionState = "sent"
	InstructionReported   InstructionState = "reported"
	InstructionDone       InstructionState = "done"
	InstructionSuperseded InstructionState = "superseded"
)

// Instruction is something a workflow waits for; the row of one activity.
type Instruction struct {
	// ID is the step_id the agent sees: the type and eight hex digits made of the
	// workflow, run and activity ids, so that a retried activity keeps it.
	ID         string
	Kind       InstructionKind
	State      InstructionState
	ClusterID  uuid.UUID
	InfraEnvID *uuid.UUID
	HostID     *uuid.UUID // nil for milestones
	// Type is the step type, the stage or the milestone.
	Type string
	Args []string

	WorkflowID string
	RunID      string
	ActivityID string
	TaskToken  []byte
	Attempt    int
	// HeartbeatEvery is how often the service tells Temporal that the instruction lives.
	HeartbeatEvery time.Duration

	// ExitCode, Output and Error are the reply; Output over 32 KiB is cut, the whole is in the blob store.
	ExitCode int
	Output   string
	Error    string

	CreatedAt  time.Time
	SentAt     time.Time
	ReportedAt time.Time
	DoneAt     time.Time
}

// Open reports whether the instruction still waits for its host.
func (i *Instruction) Open() bool {
	return i.State == InstructionPending || i.State == InstructionSent
}

// Milestone is a fact of a cluster that its workflow waits for.
type Milestone string

// The milestones of finalizing, in order.
const (
	MilestoneOperatorsAvailable Milestone = "operators-available"
	MilestoneIngressCertificate Milestone = "ingress-certificate"
	MilestoneCompletion         Milestone = "completion"
)

// MilestoneLeft is reached when the controller reports a later finalizing stage than the
// given one; the empty stage is that before the first report.
func MilestoneLeft(stage FinalizingStage) Milestone { return Milestone("left " + string(stage)) }
