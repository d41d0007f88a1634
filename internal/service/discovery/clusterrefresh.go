package discovery

import (
	"slices"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// evaluation is one look at a cluster. It works on copies; the store writes those that differ from what was read.
type evaluation struct {
	*Service
	t           *store.Tx
	before      *model.Cluster
	cluster     *model.Cluster
	hostsBefore []*model.Host
	hosts       []*model.Host
	parts       []*store.Tx // what is written with each host
	by          criteria
	operators   []model.MonitoredOperator
	uses        model.Uses // of manifests and InfraEnvs
}

func (s *Service) evaluate(c *model.Cluster, hosts []*model.Host, t *store.Tx) *evaluation {
	cluster := *c
	e := &evaluation{Service: s, t: t, before: c, cluster: &cluster, hostsBefore: hosts, by: s.criteriaOf(&cluster)}
	e.hosts, e.parts = make([]*model.Host, len(hosts)), make([]*store.Tx, len(hosts))
	for i, h := range hosts {
		e.hosts[i], e.parts[i] = s.copyOf(h), t.Part()
	}
	return e
}

func (e *evaluation) run() store.Decision {
	if lifecycle.TakesHosts.Has(e.cluster.Status) {
		e.derive()
	}
	e.cluster.Uses = openshift.CountUses(e.uses, e.hosts)
	peers := validation.NewPeers(e.cluster, e.hosts)
	e.refreshHosts(peers)
	e.refreshCluster(peers)
	moved := e.remotesChanged()
	if moved {
		e.t.HostsChanged(e.cluster.ID)
	}
	d := store.Decision{Cluster: e.cluster}
	for i, h := range e.hosts {
		d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: e.parts[i]})
		if e.worthWaking(e.hostsBefore[i], h, e.cluster, moved, e.t.Now()) {
			e.t.WakeHosts(h.ID)
		}
	}
	return d
}

// derive computes what the cluster and the roles of its hosts follow from the inventories.
func (e *evaluation) derive() {
	c := e.cluster
	for _, h := range e.hosts {
		lifecycle.FollowSingleNode(c, h)
		e.evaluateHost(h, e.by)
	}
	c.HostNetworks = validation.HostNetworks(e.hosts)
	if !c.DayTwo() && (c.MachineNetworksAuto || len(c.MachineNetworks) == 0) {
		e.deriveMachineNetworks()
	}
	e.waitForLease()
	roles := lifecycle.SuggestRoles(c, e.hosts, lifecycle.RoleOptions{Requirements: e.by.requirements, Validation: e.rules})
	for i, h := range e.hosts {
		suggested := roles[h.ID]
		if h.SuggestedRole == suggested {
			continue
		}
		h.SuggestedRole = suggested
		if suggested != "" {
			e.parts[i].Event(events.New(events.HostRoleUpdated, lifecycle.AboutHost(h),
				events.Props{"suggested_role": string(suggested)}, e.t.Now()))
		}
		e.evaluateHost(h, e.by) // the size of disk a host needs depends on its role
	}
	c.Connectivity = validation.Connectivity(c, e.hosts)
}

// deriveMachineNetworks follows the virtual addresses and the hosts' networks. Hosts
// are asked again about what depends on them.
func (e *evaluation) deriveMachineNetworks() {
	c := e.cluster
	networks := validation.MachineNetworks(c, e.hosts)
	if slices.Equal(networks, c.MachineNetworks) {
		return
	}
	c.MachineNetworks, c.MachineNetworksAuto = networks, len(networks) > 0
	c.NetworkGeneration++
}

func (e *evaluation) refreshHosts(peers *validation.Peers) {
	in := hostContext{by: e.by, hosts: e.hosts, peers: peers, timeouts: e.timeouts, awaitingRetry: e.awaitingRetry()}
	for i, h := range e.hosts {
		e.refreshHost(h, in, e.parts[i])
	}
}

// awaitingRetry reports whether a workflow waits for a decision about a failed host, or
// about a time-out of the whole installation.
func (e *evaluation) awaitingRetry() bool {
	return e.cluster.DecisionOpen || slices.ContainsFunc(e.hosts, func(h *model.Host) bool { return h.DecisionOpen })
}

// refreshCluster evaluates the rules of the cluster and its Refresh row, with what just
// became of its hosts.
func (e *evaluation) refreshCluster(peers *validation.Peers) {
	c, t := e.cluster, e.t
	c.Validations = validation.Cluster(validation.ClusterFacts{
		Cluster: c, Hosts: e.hosts, Peers: peers, Requirements: e.by.requirements,
		CustomManifests: e.uses.CustomManifests > 0, WaitingNetworks: e.uses.WaitingNetworks > 0, Options: e.rules, Now: t.Now(),
	})
	clusterValidationEvents(c, e.before.Validations, t)
	facts := lifecycle.NewClusterFacts(lifecycle.ClusterInput{
		Cluster: c, Hosts: e.hosts, Results: c.Validations, Operators: e.operators,
		Timeouts: e.timeouts, AwaitingRetry: e.awaitingRetry(), Now: t.Now(),
	})
	_, _ = lifecycle.ApplyCluster(c, lifecycle.RefreshCluster, facts, t) // a status without a row stays
	c.Progress = lifecycle.ClusterProgress(c.Status, e.hosts, e.operators, c.Progress)
}

// remotesChanged reports whether a host can be asked about in connectivity checks now
// that could not before: the others have to check again. A change of addresses is
// noticed with the reply that brings it.
func (e *evaluation) remotesChanged() bool {
	for i, h := range e.hosts {
		if h.Inventory != nil && lifecycle.Silent.Has(e.hostsBefore[i].Status) && !lifecycle.Silent.Has(h.Status) {
			return true
		}
	}
	return false
}
