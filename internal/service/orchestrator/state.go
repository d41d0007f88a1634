package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"slipway/internal/model"
	"slipway/internal/wire"
	"slipway/workflows"
)

// queryTime bounds a query: it needs a worker, and none may be there.
const queryTime = 5 * time.Second

// State asks the running workflow of a cluster where it stands. It returns an
// ErrNotFound when none runs, an ErrUnavailable when no worker answers for it.
func (o *Orchestrator) State(ctx context.Context, id uuid.UUID) (wire.WorkflowState, error) {
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return wire.WorkflowState{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	response, err := o.Temporal.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflows.ClusterWorkflowID(id), QueryType: workflows.QueryState,
		QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound), err == nil && response.QueryRejected != nil:
		return wire.WorkflowState{}, model.NotFoundf("cluster %s has no running installation: it is %s", c.Name, c.Status)
	case err != nil:
		return wire.WorkflowState{}, fmt.Errorf("%w: ask the workflow of cluster %s: %w", model.ErrUnavailable, id, err)
	}
	var state workflows.ClusterState
	if err := response.QueryResult.Get(&state); err != nil {
		return wire.WorkflowState{}, fmt.Errorf("read the state of the workflow of cluster %s: %w", id, err)
	}
	return stateToWire(state), nil
}

func stateToWire(state workflows.ClusterState) wire.WorkflowState {
	out := wire.WorkflowState{Phase: string(state.Phase), Paused: state.Paused, TimedOut: state.TimedOut, Hosts: []wire.WorkflowHost{}}
	for _, h := range state.Hosts {
		out.Hosts = append(out.Hosts, wire.WorkflowHost{HostID: h.HostID, State: string(h.State), Reason: h.Reason})
	}
	slices.SortFunc(out.Hosts, func(a, b wire.WorkflowHost) int { return bytes.Compare(a.HostID[:], b.HostID[:]) })
	return out
}
