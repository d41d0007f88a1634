package evaluation

import (
	"errors"
	"slices"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/features"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/cluster/roles"
	"slipway/internal/cluster/validation"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// look is one evaluation of a cluster. It works on copies; the store writes the copies that differ from the originals.
type look struct {
	*Evaluator
	t           *store.Tx
	before      *model.Cluster
	cluster     *model.Cluster
	hostsBefore []*model.Host
	hosts       []*model.Host
	parts       []*store.Tx // the writes beside each host
	by          Criteria
	operators   []model.MonitoredOperator
	uses        model.Uses // of manifests and InfraEnvs
	news        *news
}

func (e *Evaluator) look(c *model.Cluster, hosts []*model.Host, t *store.Tx) *look {
	cluster := *c
	l := &look{Evaluator: e, t: t, before: c, cluster: &cluster, hostsBefore: hosts, by: e.criteriaOf(&cluster)}
	l.hosts, l.parts = make([]*model.Host, len(hosts)), make([]*store.Tx, len(hosts))
	for i, h := range hosts {
		l.hosts[i], l.parts[i] = e.copyOf(h), t.Part()
	}
	return l
}

func (l *look) run() store.Decision {
	if lifecycle.TakesHosts.Has(l.cluster.Status) {
		l.derive()
	}
	l.cluster.Uses = features.CountUses(l.uses, l.hosts)
	peers := validation.NewPeers(l.cluster, l.hosts)
	l.refreshHosts(peers)
	l.refreshCluster(peers)
	l.news.moved = l.news.moved || l.remotesChanged()
	if l.news.moved {
		l.t.HostsChanged(l.cluster.ID)
	}
	d := store.Decision{Cluster: l.cluster}
	for i, h := range l.hosts {
		d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: l.parts[i]})
		l.wake(l.news, l.hostsBefore[i], h, l.cluster, l.t)
	}
	return d
}

// derive computes the cluster's networks and the roles of its hosts from the inventories.
func (l *look) derive() {
	c := l.cluster
	for _, h := range l.hosts {
		lifecycle.FollowSingleNode(c, h)
		l.evaluateHost(h, l.by)
	}
	c.HostNetworks = nodeaddress.HostNetworks(l.hosts)
	if !c.DayTwo() && (c.MachineNetworksAuto || len(c.MachineNetworks) == 0) {
		l.deriveMachineNetworks()
	}
	l.waitForLease()
	suggestions := roles.Suggest(c, l.hosts, roles.Options{Requirements: l.by.requirements, Validation: l.rules})
	for i, h := range l.hosts {
		suggested := suggestions[h.ID]
		if h.SuggestedRole == suggested {
			continue
		}
		h.SuggestedRole = suggested
		if suggested != "" {
			l.parts[i].Event(events.New(events.HostRoleUpdated, lifecycle.AboutHost(h),
				events.Props{"suggested_role": string(suggested)}, l.t.Now()))
		}
		l.evaluateHost(h, l.by) // the size of disk a host needs depends on its role
	}
	c.Connectivity = validation.Connectivity(c, l.hosts)
}

// deriveMachineNetworks follows the virtual addresses and the hosts' networks. Hosts
// are asked again about what depends on them.
func (l *look) deriveMachineNetworks() {
	c := l.cluster
	networks := nodeaddress.MachineNetworks(c, l.hosts)
	if slices.Equal(networks, c.MachineNetworks) {
		return
	}
	c.MachineNetworks, c.MachineNetworksAuto = networks, len(networks) > 0
	c.NetworkGeneration++
}

func (l *look) refreshHosts(peers *validation.Peers) {
	in := hostContext{by: l.by, hosts: l.hosts, peers: peers, timeouts: l.timeouts, awaitingRetry: l.awaitingRetry()}
	for i, h := range l.hosts {
		l.refreshHost(h, in, l.parts[i])
	}
}

// awaitingRetry reports whether a workflow waits for a decision about a failed host, or
// about a time-out of the whole installation.
func (l *look) awaitingRetry() bool {
	return l.cluster.DecisionOpen || slices.ContainsFunc(l.hosts, func(h *model.Host) bool { return h.DecisionOpen })
}

// refreshCluster evaluates the rules of the cluster and its Refresh row, with the new states of its hosts.
func (l *look) refreshCluster(peers *validation.Peers) {
	c, t := l.cluster, l.t
	c.Validations = validation.Cluster(validation.ClusterFacts{
		Cluster: c, Hosts: l.hosts, Peers: peers, Requirements: l.by.requirements,
		CustomManifests: l.uses.CustomManifests > 0, WaitingNetworks: l.uses.WaitingNetworks > 0, ConfigFault: configFault(c, l.hosts),
		Options: l.rules, Now: t.Now(),
	})
	clusterValidationEvents(c, l.before.Validations, t)
	facts := lifecycle.NewClusterFacts(lifecycle.ClusterInput{
		Cluster: c, Hosts: l.hosts, Results: c.Validations, Operators: l.operators,
		Timeouts: l.timeouts, AwaitingRetry: l.awaitingRetry(), Now: t.Now(),
	})
	_, _ = lifecycle.ApplyCluster(c, lifecycle.RefreshCluster, facts, t) // a status without a row stays
	c.Progress = lifecycle.ClusterProgress(c, l.hosts, l.operators)
}

// configFault returns why the override of a cluster does not fit it, empty if it does: platform, VIPs, control plane or operators may
// have changed since it was set. Values that are still missing are other rules' matter.
func configFault(c *model.Cluster, hosts []*model.Host) string {
	if c.InstallConfigOverride == "" || c.Kind != model.KindCluster || !lifecycle.TakesHosts.Has(c.Status) {
		return ""
	}
	if _, err := installconfig.Build(c, hosts, installconfig.Options{}); errors.Is(err, model.ErrInvalid) {
		return err.Error()
	}
	return ""
}

// remotesChanged reports whether connectivity checks can name a host now that they could not before: the other hosts have to check
// again. A change of addresses is noticed with the reply that brings it.
func (l *look) remotesChanged() bool {
	for i, h := range l.hosts {
		if h.Inventory != nil && lifecycle.Silent.Has(l.hostsBefore[i].Status) && !lifecycle.Silent.Has(h.Status) {
			return true
		}
	}
	return false
}
