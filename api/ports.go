package api

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

// Discovery serves agents.
type Discovery interface {
	Register(ctx context.Context, in discovery.RegisterInput) (discovery.Registration, error)
	NextSteps(ctx context.Context, in discovery.PollInput) (wire.Steps, error)
	Reply(ctx context.Context, infraEnvID, hostID uuid.UUID, reply wire.StepReply) error
}

// Evaluation keeps statuses and validations of clusters and hosts up to date.
type Evaluation interface {
	// BringUpToDate evaluates objects that changed since their last evaluation, before they are read.
	BringUpToDate(ctx context.Context, reading store.Reading) error
}

// HostReports records reports about the installation of a host.
type HostReports interface {
	Stage(ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, info string) error
	Logs(ctx context.Context, infraEnvID, hostID uuid.UUID, state model.LogsState) error
}

// ClusterReports records what the controller of a new cluster reports.
type ClusterReports interface {
	FinalizingProgress(ctx context.Context, clusterID uuid.UUID, stage model.FinalizingStage) error
	ReportOperator(ctx context.Context, operator model.MonitoredOperator) error
	IngressCert(ctx context.Context, clusterID uuid.UUID, pem string) error
	Complete(ctx context.Context, clusterID uuid.UUID, success bool, errorInfo string) error
}

// Feed waits for changes.
type Feed interface {
	// Wait returns true when there are changes after a cursor, and false when ctx ends.
	Wait(ctx context.Context, after store.Cursor) bool
}

// Orchestrator passes commands to the workflows of installations. A command that the state does not allow is a
// model.ErrConflict.
type Orchestrator interface {
	Install(ctx context.Context, clusterID uuid.UUID) error
	Cancel(ctx context.Context, clusterID uuid.UUID) error
	Reset(ctx context.Context, clusterID uuid.UUID) error
	InstallHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error
	ResetHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error
	// ReleaseHost and ReleaseCluster end workflows that wait for a decision about a deleted object; they try once, and otherwise the
	// workflows end by themselves.
	ReleaseHost(ctx context.Context, infraEnvID, hostID uuid.UUID)
	ReleaseCluster(ctx context.Context, clusterID uuid.UUID)
	Commands
}

// Commands carries out the commands of Slipway's own API. An unknown command is a model.ErrInvalid that lists the valid ones; State of
// a cluster without a running workflow is a model.ErrNotFound.
type Commands interface {
	ClusterCommand(ctx context.Context, clusterID uuid.UUID, command string) error
	HostCommand(ctx context.Context, infraEnvID, hostID uuid.UUID, command string) error
	State(ctx context.Context, clusterID uuid.UUID) (wire.WorkflowState, error)
}
