package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// HostKey identifies a host.
type HostKey struct{ InfraEnvID, HostID uuid.UUID }

// UnstartedHostWorkflows lists the hosts whose accepted workflow does not run yet.
func (s *Store) UnstartedHostWorkflows(ctx context.Context) ([]HostKey, error) {
	rows, err := s.pool.Query(ctx, `
		select infra_env_id, id from hosts
		where doc ? 'pending_workflow' and deleted_at is null
		order by infra_env_id, id`)
	if err != nil {
		return nil, fmt.Errorf("list unstarted workflows of hosts: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (HostKey, error) {
		var k HostKey
		return k, row.Scan(&k.InfraEnvID, &k.HostID)
	})
}

// HostWorkflowStarted records that the workflow of an attempt runs.
func (s *Store) HostWorkflowStarted(ctx context.Context, infraEnvID, id uuid.UUID, attempt int) error {
	_, err := s.UpdateHost(ctx, infraEnvID, id, func(h *model.Host, _ *Tx) error {
		if h.WorkflowAttempt == attempt {
			h.PendingWorkflow = model.WorkflowNone
		}
		return nil
	})
	return err
}
