package store

import (
	"github.com/google/uuid"

	"slipway/internal/model"
)

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
