package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/google/renameio/v2"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// remember keeps the cluster as the service showed it, also for the next process.
func (c *controller) remember(ctx context.Context, found *wire.Cluster) {
	c.known = found
	if c.SeenFile == "" {
		return
	}
	content, err := json.Marshal(found)
	if err == nil {
		err = renameio.WriteFile(c.SeenFile, content, 0o600)
	}
	c.note(ctx, "keep the cluster for a restart", err)
}

// recall reads the cluster that the process before has kept: it may have ended while the service was away.
func (c *controller) recall(ctx context.Context) {
	if c.SeenFile == "" {
		return
	}
	content, err := os.ReadFile(c.SeenFile)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var kept wire.Cluster
	if err == nil {
		err = json.Unmarshal(content, &kept)
	}
	if err == nil && kept.ID != c.ClusterID {
		err = fmt.Errorf("require cluster %s, found %s", c.ClusterID, kept.ID)
	}
	c.note(ctx, "read the cluster that was kept for a restart", err)
	if err == nil {
		c.known = &kept
	}
}

// approveWithoutService approves certificate requests while the service does not answer, by the cluster as it was last seen: nodes
// of hosts that have rebooted must not wait for the service. Refusals are left for the next round with the service, which
// records them. A service that refuses the token may have given the cluster up: nothing is approved then.
func (c *controller) approveWithoutService(ctx context.Context, cause error) {
	if c.known == nil || errors.Is(cause, client.ErrUnauthorized) {
		return
	}
	s := State{Cluster: ClusterOf(c.known), Outdated: true}
	if ended(s.Cluster.Status) || s.Cluster.Status == model.ClusterError {
		return
	}
	if err := c.observeKubelets(ctx, &s); err != nil {
		c.note(ctx, "look at certificate requests without the service", err)
		return
	}
	c.apply(ctx, Plan{Duties: slices.DeleteFunc(missingApprovals(s), func(a Action) bool {
		_, approves := a.(ApproveCSR)
		return !approves
	})})
}
