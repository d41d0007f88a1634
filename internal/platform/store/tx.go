package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
	"slipway/internal/platform/redact"
)

// Channels of LISTEN/NOTIFY.
const (
	channelHosts    = "slipway_hosts"    // payload: host id, a pending activity waits for it
	channelReported = "slipway_reported" // a pending activity was reported
	channelPulses   = "slipway_pulses"   // something is to be evaluated again
)

// Tx collects what an update closure adds to its own row. Everything is written
// together with the row, or not at all.
type Tx struct {
	now    time.Time
	batch  pgx.Batch
	events []model.Event // those in the batch
	crowd  Crowd
}

// Now returns the instant of the transaction.
func (t *Tx) Now() time.Time { return t.now }

// Event appends to the history users read.
func (t *Tx) Event(events ...model.Event) {
	for _, e := range events {
		e = redactedEvent(e)
		var props []byte
		if len(e.Props) > 0 {
			props, _ = json.Marshal(e.Props) // values come from the catalogue: strings, numbers, ids
		}
		t.events = append(t.events, e)
		t.batch.Queue(eventSQL(e),
			e.Name, e.Category, e.Severity, e.ClusterID, e.HostID, e.InfraEnvID, e.RequestID, e.Message, props, e.At)
	}
}

// redactedEvent returns an event without the secrets that programs repeat in its texts.
func redactedEvent(e model.Event) model.Event {
	e.Message = redact.Text(e.Message)
	props := maps.Clone(e.Props)
	for name, value := range props {
		if text, isText := value.(string); isText {
			props[name] = redact.Text(text)
		}
	}
	e.Props = props
	return e
}

// Count records an event for observers only; it is not stored.
func (t *Tx) Count(e model.Event) { t.events = append(t.events, e) }

// Refresh marks the cluster of a host, or the unbound hosts of its InfraEnv, for evaluation.
func (t *Tx) Refresh(clusterID *uuid.UUID, infraEnvID uuid.UUID) {
	if clusterID != nil {
		t.refreshMark(*clusterID, "cluster", 0)
		return
	}
	t.refreshMark(infraEnvID, "infra-env", 0)
}

// RefreshCluster marks a cluster for evaluation.
func (t *Tx) RefreshCluster(id uuid.UUID) { t.refreshMark(id, "cluster", 0) }

// HostsChanged records that a host joined or left a cluster or changed its addresses: connectivity is asked
// again, and the cluster evaluated.
func (t *Tx) HostsChanged(clusterID uuid.UUID) { t.refreshMark(clusterID, "cluster", 1) }

func (t *Tx) refreshMark(id uuid.UUID, kind string, generations int) {
	t.batch.Queue(`
		insert into pulses as p (subject_id, kind, hosts_generation, dirty, refresh_at)
		values ($1, $2, $3, 1, $4)
		on conflict (subject_id) do update set
		  hosts_generation = p.hosts_generation + $3,
		  dirty = p.dirty + 1,
		  refresh_at = coalesce(p.refresh_at, $4)`,
		id, kind, generations, t.now)
	t.notify(channelPulses, id.String())
}

// StageReached completes the pending activities that wait for this stage of the host or an earlier one. A host that runs from its disk
// also completes its open steps of the given types: their replies are lost.
func (t *Tx) StageReached(h *model.Host, reached []model.Stage, over []string) {
	names := make([]string, len(reached))
	for i, stage := range reached {
		names[i] = string(stage)
	}
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $4
		where infra_env_id = $1 and host_id = $2 and kind = 'stage' and type = any ($3) and state in ('pending', 'sent')`,
		h.InfraEnvID, h.ID, names, t.now)
	if n := len(reached); n > 0 && reached[n-1].AfterReboot() {
		t.batch.Queue(`
			update pending_activities set state = 'reported', reported_at = $3
			where infra_env_id = $1 and host_id = $2 and kind = 'step' and type = any ($4) and state in ('pending', 'sent')`,
			h.InfraEnvID, h.ID, t.now, over)
	}
	t.notify(channelReported, h.ID.String())
}

// FailSteps completes all open pending activities of a host with an exit code and an error, except waits for its status.
func (t *Tx) FailSteps(h *model.Host, exitCode int, reason string) {
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $5, exit_code = $3, error = $4
		where infra_env_id = $1 and host_id = $2 and state in ('pending', 'sent') and kind <> 'status'`,
		h.InfraEnvID, h.ID, exitCode, reason, t.now)
	t.notify(channelReported, h.ID.String())
}

// FailStepsOfOtherBoots completes the open steps of a host that were commanded for another boot than its present one: they
// are not handed out any more.
func (t *Tx) FailStepsOfOtherBoots(h *model.Host, exitCode int, reason string) {
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $5, exit_code = $3, error = $4
		where infra_env_id = $1 and host_id = $2 and state in ('pending', 'sent') and boot <> $6`,
		h.InfraEnvID, h.ID, exitCode, reason, t.now, h.Boot)
	t.notify(channelReported, h.ID.String())
}

// PassStepsOfOtherBoots completes the open steps of a host that were commanded for another boot than its present one as done: the
// host has left that boot as its last step commands.
func (t *Tx) PassStepsOfOtherBoots(h *model.Host) {
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $3, exit_code = 0
		where infra_env_id = $1 and host_id = $2 and state in ('pending', 'sent') and boot <> $4`,
		h.InfraEnvID, h.ID, t.now, h.Boot)
	t.notify(channelReported, h.ID.String())
}

// MilestoneReached completes the pending activities that wait for a milestone of the cluster. An error makes the
// milestone a failed one.
func (t *Tx) MilestoneReached(clusterID uuid.UUID, m model.Milestone, exitCode int, reason string) {
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $5, exit_code = $3, error = $4
		where cluster_id = $1 and kind = 'milestone' and type = $2 and state in ('pending', 'sent')`,
		clusterID, m, exitCode, reason, t.now)
	t.notify(channelReported, clusterID.String())
}

// SupersedeCluster voids all pending activities of a cluster except activities of hosts that have left it: a
// reclaim continues without the cluster.
func (t *Tx) SupersedeCluster(clusterID uuid.UUID) {
	t.batch.Queue(`
		update pending_activities i set state = 'superseded', done_at = $2
		where cluster_id = $1 and state in ('pending', 'sent', 'reported')
		  and not exists (
		    select from hosts h
		    where h.infra_env_id = i.infra_env_id and h.id = i.host_id and h.deleted_at is null and h.cluster_id is distinct from $1)`,
		clusterID, t.now)
}

// SupersedeHost voids the open pending activities of one host.
func (t *Tx) SupersedeHost(h *model.Host) {
	t.batch.Queue(`
		update pending_activities set state = 'superseded', done_at = $3
		where infra_env_id = $1 and host_id = $2 and state in ('pending', 'sent', 'reported')`,
		h.InfraEnvID, h.ID, t.now)
}

// SupersedeSteps voids the open steps of one host.
func (t *Tx) SupersedeSteps(h *model.Host) {
	t.batch.Queue(`
		update pending_activities set state = 'superseded', done_at = $3
		where infra_env_id = $1 and host_id = $2 and kind = 'step' and state in ('pending', 'sent', 'reported')`,
		h.InfraEnvID, h.ID, t.now)
}

// CheckIn sets when the host was last heard of.
func (t *Tx) CheckIn(h *model.Host) {
	h.CheckedInAt = t.now
	t.batch.Queue(`
		insert into host_checkins (infra_env_id, host_id, checked_in_at, host_timestamp)
		values ($1, $2, $3, $4)
		on conflict (infra_env_id, host_id) do update set checked_in_at = $3, host_timestamp = $4`,
		h.InfraEnvID, h.ID, t.now, h.Timestamp)
}

func (t *Tx) notify(channel, payload string) {
	t.batch.Queue(`select pg_notify($1, $2)`, channel, payload)
}

func (t *Tx) flush(ctx context.Context, tx pgx.Tx) error {
	if len(t.batch.QueuedQueries) > 0 {
		if err := tx.SendBatch(ctx, &t.batch).Close(); err != nil {
			return fmt.Errorf("write changes: %w", err)
		}
	}
	if w, ok := tx.(*watched); ok {
		w.events = append(w.events, t.events...)
	}
	return nil
}

// Write runs a transaction without a row of its own.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		if err := fn(t); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
}

// MilestonesReached finishes what waits for any of some milestones of the cluster.
func (t *Tx) MilestonesReached(clusterID uuid.UUID, list []model.Milestone) {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = string(m)
	}
	t.batch.Queue(`
		update pending_activities set state = 'reported', reported_at = $3
		where cluster_id = $1 and kind = 'milestone' and type = any ($2) and state in ('pending', 'sent')`,
		clusterID, names, t.now)
	t.notify(channelReported, clusterID.String())
}
