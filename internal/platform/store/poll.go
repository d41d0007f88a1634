package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// CheckInEvery is how often a poll records that the host is alive.
const CheckInEvery = 10 * time.Second

// PollView is everything an idle poll needs to know of a host: narrow columns read through primary keys,
// whatever the size of its cluster.
type PollView struct {
	ClusterID         *uuid.UUID
	Kind              model.HostKind
	Status            model.HostStatus
	AgentSteps        model.AgentSteps
	Stage             model.Stage
	Facts             model.Facts
	NetworkGeneration int64
	HostsGeneration   int64
	CheckedInAt       time.Time
	Timestamp         int64 // the host's clock at CheckedInAt in Unix seconds; 0 when it sent none
	Boot              string
	// Waiting is set while a step of a workflow waits for the host.
	Waiting bool
}

// Host returns the host as far as an idle poll reads it.
func (v *PollView) Host() *model.Host {
	return &model.Host{Kind: v.Kind, Status: v.Status, AgentSteps: v.AgentSteps, Facts: v.Facts}
}

// Poll reads the view of one host. See WithFirstLook.
func (s *Store) Poll(ctx context.Context, infraEnvID, hostID uuid.UUID) (*PollView, error) {
	if v := firstLookOf(ctx).take(infraEnvID, hostID); v != nil {
		return v, nil
	}
	return s.poll(ctx, infraEnvID, hostID, "", "")
}

// poll reads the view of one host h, and more columns of it and of the tables that join adds, such as accessColumns with accessJoin.
func (s *Store) poll(ctx context.Context, infraEnvID, hostID uuid.UUID, more, join string, targets ...any) (*PollView, error) {
	var v PollView
	var facts []byte
	var checkedIn *time.Time
	var cluster *[16]byte // plain bytes spare the driver a detour through text
	err := s.pool.QueryRow(ctx, `
		select h.cluster_id, h.kind, h.status, h.dialect, h.stage, h.facts,
		  coalesce(c.network_generation, 0), coalesce(p.hosts_generation, 0), k.checked_in_at,
		  coalesce(k.host_timestamp, 0), h.boot,
		  exists (select from pending_activities i
		    where i.infra_env_id = h.infra_env_id and i.host_id = h.id and i.state in ('pending', 'sent') and i.kind = 'step')`+more+`
		from hosts h`+join+`
		left join clusters c on c.id = h.cluster_id
		left join pulses p on p.subject_id = h.cluster_id
		left join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, [16]byte(infraEnvID), [16]byte(hostID)).Scan(append([]any{
		&cluster, &v.Kind, &v.Status, &v.AgentSteps, &v.Stage, &facts,
		&v.NetworkGeneration, &v.HostsGeneration, &checkedIn, &v.Timestamp, &v.Boot, &v.Waiting,
	}, targets...)...)
	if err != nil {
		return nil, notFound(err, "host", hostID)
	}
	if err := json.Unmarshal(facts, &v.Facts); err != nil {
		return nil, fmt.Errorf("decode facts of host %s: %w", hostID, err)
	}
	v.ClusterID, v.CheckedInAt = (*uuid.UUID)(cluster), orZero(checkedIn)
	return &v, nil
}

// MarkSilentHosts marks for evaluation the clusters and InfraEnvs of hosts that were last heard of between
// `until` and `since`, so that each silence is noticed once.
func (s *Store) MarkSilentHosts(ctx context.Context, since, until time.Time) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select distinct h.cluster_id,
			  case when h.cluster_id is null then h.infra_env_id else '00000000-0000-0000-0000-000000000000'::uuid end
			from host_checkins k
			join hosts h on h.infra_env_id = k.infra_env_id and h.id = k.host_id
			where k.checked_in_at between $1 and $2 and h.deleted_at is null
			  and h.status not in ('disconnected', 'disconnected-unbound', 'installed', 'error', 'cancelled', 'added-to-existing-cluster')`,
			until, since)
		if err != nil {
			return fmt.Errorf("find silent hosts: %w", err)
		}
		t := &Tx{now: s.Now()}
		var clusterID *uuid.UUID
		var infraEnvID uuid.UUID
		_, err = pgx.ForEachRow(rows, []any{&clusterID, &infraEnvID}, func() error {
			t.Refresh(clusterID, infraEnvID)
			return nil
		})
		if err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
}

func isNotFound(err error) bool { return errors.Is(err, model.ErrNotFound) }
