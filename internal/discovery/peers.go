package discovery

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"slipway/internal/instructions"
	"slipway/internal/store"
)

// cachedClusters is how many clusters a process keeps the list for connectivity checks of.
const cachedClusters = 128

// peerCache makes the list of a cluster's hosts for connectivity checks once for each
// generation of them, however many hosts ask at the same time.
type peerCache struct {
	group singleflight.Group
	mu    sync.Mutex
	lists map[uuid.UUID]peerList
}

type peerList struct {
	generation int64
	hosts      int // of the cluster
	remotes    *instructions.Remotes
}

// size is how many hosts a cluster had when its list was made; 0 when it never was.
func (c *peerCache) size(cluster *uuid.UUID) int {
	if cluster == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists[*cluster].hosts
}

func (c *peerCache) remotes(ctx context.Context, s *store.Store, cluster uuid.UUID, generation int64) (*instructions.Remotes, error) {
	c.mu.Lock()
	known, ok := c.lists[cluster]
	c.mu.Unlock()
	if ok && known.generation == generation {
		return known.remotes, nil
	}
	made, err, _ := c.group.Do(fmt.Sprintf("%s/%d", cluster, generation), func() (any, error) {
		// The others wait for this one: it must not end with the first caller's request.
		hosts, err := s.ClusterHosts(context.WithoutCancel(ctx), cluster)
		if err != nil {
			return nil, err
		}
		remotes, err := instructions.NewRemotes(hosts)
		if err != nil {
			return nil, err
		}
		c.keep(cluster, peerList{generation, len(hosts), remotes})
		return remotes, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*instructions.Remotes), nil
}

func (c *peerCache) keep(cluster uuid.UUID, list peerList) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists = map[uuid.UUID]peerList{}
	}
	if _, known := c.lists[cluster]; !known && len(c.lists) >= cachedClusters {
		for other := range c.lists { // any one: it is made again when it is needed
			delete(c.lists, other)
			break
		}
	}
	c.lists[cluster] = list
}
