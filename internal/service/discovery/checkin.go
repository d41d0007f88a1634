package discovery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/validation"
	"slipway/internal/platform/store"
)

const (
	// checkInPause gathers the check-ins of many hosts into one statement.
	checkInPause = time.Second
	// checkInLimit bounds how long writing them may take.
	checkInLimit = 10 * time.Second
)

// checkIns gathers signs of life until they are written. One that is lost with the
// process is made good by the next poll.
type checkIns struct {
	store   *store.Store
	log     *slog.Logger
	mu      sync.Mutex
	waiting map[hostID]store.HostCheckIn
}

type hostID struct{ infraEnv, id uuid.UUID }

// add notes a sign of life; the first of a batch has the batch written after the pause.
func (c *checkIns) add(in store.HostCheckIn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[hostID]store.HostCheckIn{}
		time.AfterFunc(checkInPause, c.write)
	}
	c.waiting[hostID{in.InfraEnvID, in.HostID}] = in
}

func (c *checkIns) write() {
	c.mu.Lock()
	waiting := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	list := make([]store.HostCheckIn, 0, len(waiting))
	for _, in := range waiting {
		list = append(list, in)
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkInLimit)
	defer cancel()
	if err := c.store.CheckIns(ctx, list); err != nil {
		c.log.Warn("check-ins were not written", "hosts", len(list), "error", err)
	}
}

// checkIn records that the host is alive, at most every store.CheckInEvery. The first
// poll after a registration and one after silence count at once. The cluster is evaluated
// after silence, and when the host's clock may change a verdict.
func (p *poll) checkIn(ctx context.Context, v *store.PollView) error {
	silence := p.now().Sub(v.CheckedInAt)
	first := len(v.Facts) == 0
	if !first && silence < min(store.CheckInEvery, p.timeouts.Disconnect/3) {
		return nil
	}
	in := store.HostCheckIn{InfraEnvID: p.in.InfraEnvID, HostID: p.in.HostID, At: p.store.Now(), Timestamp: p.in.Timestamp}
	disconnected := lifecycle.Disconnected.Has(v.Status)
	back := disconnected || silence > p.timeouts.Disconnect && !v.CheckedInAt.IsZero()
	judged := lifecycle.InDiscovery.Has(v.Status) && validation.ClockChanged(
		validation.ClockReading{Timestamp: v.Timestamp, At: v.CheckedInAt}, validation.ClockReading{Timestamp: in.Timestamp, At: in.At})
	if !first && !back && !judged {
		p.checkIns.add(in)
		return nil
	}
	return p.store.CheckIn(ctx, in, func(t *store.Tx) {
		if back || judged {
			t.Refresh(v.ClusterID, p.in.InfraEnvID)
		}
	})
}
