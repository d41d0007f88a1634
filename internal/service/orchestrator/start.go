package orchestrator

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/model"
	"slipway/workflows"
)

// starting is a workflow that was accepted in the database.
type starting struct {
	id         string
	attempt    int // kept in the workflow's memo
	workflow   any
	request    any
	attributes temporal.SearchAttributes
	// resource of Kubernetes that defines what is installed; empty: none.
	resource model.KubeKey
	// summary and details are for people who look at Temporal's UI.
	summary, details string
}

// Keys of a workflow's memo.
const (
	memoAttempt  = "attempt"
	memoResource = "kubernetes" // NAMESPACE/NAME
)

// memo returns the memo of the workflow.
func (s *starting) memo() map[string]any {
	memo := map[string]any{memoAttempt: s.attempt}
	if s.resource != (model.KubeKey{}) {
		memo[memoResource] = s.resource.String()
	}
	return memo
}

// errOlderRuns says that the workflow of an older attempt has yet to end.
var errOlderRuns = errors.New("an older one still ends")

// startOnce starts a workflow. A running workflow of the same attempt means the same start done twice; a workflow of an older attempt
// still has to end.
func (o *Orchestrator) startOnce(ctx context.Context, s starting) error {
	_, err := o.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       s.id,
		TaskQueue:                                workflows.TaskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		Memo:                                     s.memo(),
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    s.attributes,
		StaticSummary:                            s.summary,
		StaticDetails:                            s.details,
	}, s.workflow, s.request)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		same, derr := o.runs(ctx, s.id, s.attempt)
		switch {
		case derr != nil:
			return fmt.Errorf("look at workflow %s: %w", s.id, derr)
		case !same:
			return fmt.Errorf("start workflow %s: %w", s.id, errOlderRuns)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("start workflow %s: %w", s.id, err)
	}
	return nil
}

// runs reports whether the running workflow of an id belongs to the attempt.
func (o *Orchestrator) runs(ctx context.Context, id string, attempt int) (bool, error) {
	description, err := o.Temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return false, err
	}
	var have int
	payload := description.GetWorkflowExecutionInfo().GetMemo().GetFields()[memoAttempt]
	if payload == nil {
		return false, nil
	}
	if err := o.Converter.FromPayload(payload, &have); err != nil {
		return false, err
	}
	return have == attempt, nil
}
