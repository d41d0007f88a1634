package evaluation

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/platform/store"
)

// cachedClusters is how many clusters a process remembers things about.
const cachedClusters = 1024

// peerCache makes the list of a cluster's hosts for connectivity checks once for each
// generation of them, however many hosts ask at the same time. It also remembers which
// clusters lease no virtual addresses, so that their hosts do not look every minute.
type peerCache struct {
	group     singleflight.Group
	mu        sync.Mutex
	lists     map[uuid.UUID]peerList
	leaseless map[uuid.UUID]int64 // network generation in which nothing is leased
}

type peerList struct {
	generation int64
	hosts      int // of the cluster
	remotes    *duesteps.Remotes
}

// size returns how many hosts a cluster had when its list was made; 0 without a list.
func (c *peerCache) size(cluster *uuid.UUID) int {
	if cluster == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists[*cluster].hosts
}

func (c *peerCache) remotes(ctx context.Context, s *store.Store, cluster uuid.UUID, generation int64) (*duesteps.Remotes, error) {
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
		remotes, err := duesteps.NewRemotes(hosts)
		if err != nil {
			return nil, err
		}
		c.keep(cluster, peerList{generation, len(hosts), remotes})
		return remotes, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*duesteps.Remotes), nil
}

func (c *peerCache) keep(cluster uuid.UUID, list peerList) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists = map[uuid.UUID]peerList{}
	}
	put(c.lists, cluster, list)
}

// noLease remembers that a cluster leases no addresses in a generation of its networks.
func (c *peerCache) noLease(cluster uuid.UUID, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaseless == nil {
		c.leaseless = map[uuid.UUID]int64{}
	}
	put(c.leaseless, cluster, generation)
}

// leases reports false when the cluster is known to lease no addresses.
func (c *peerCache) leases(cluster *uuid.UUID, generation int64) bool {
	if cluster == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.leaseless[*cluster]
	return !ok || known != generation
}

// put adds an entry to a map of limited size.
func put[V any](to map[uuid.UUID]V, id uuid.UUID, value V) {
	if _, known := to[id]; !known && len(to) >= cachedClusters {
		for other := range to { // any one: it is made again when it is needed
			delete(to, other)
			break
		}
	}
	to[id] = value
}
