package installer

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// others are the hosts of the cluster as the bootstrap host sees them. Stages are
// reported once and only forward.
type others struct {
	*Installer
	req   *wire.InstallCmdRequest
	hosts []otherHost
	// reported are the hosts and stages that need no report any more.
	reported map[reportedStage]bool
	// refusals are the last refusals reported, by host.
	refusals map[uuid.UUID]string
	// inventories are the inventories read so far.
	inventories map[uuid.UUID]wire.Inventory
	// listed is set once the service listed the hosts, cluster once it described the cluster.
	listed  bool
	cluster *wire.Cluster
}

type otherHost struct {
	infraEnv, id uuid.UUID
	role         model.Role
	stage        model.Stage // when the hosts were listed
	name         string
	addresses    []netip.Addr
}

type reportedStage struct {
	host  uuid.UUID
	stage model.Stage
}

func (i *Installer) watchOthers(req *wire.InstallCmdRequest) *others {
	return &others{
		Installer: i, req: req,
		reported: map[reportedStage]bool{}, refusals: map[uuid.UUID]string{}, inventories: map[uuid.UUID]wire.Inventory{},
	}
}

// load asks the service who the other hosts are.
func (o *others) load(ctx context.Context) []otherHost {
	hosts, err := o.Client.ClusterHosts(ctx, o.req.ClusterID, "")
	if err != nil {
		if ctx.Err() == nil {
			o.Log.Warn("hosts of the cluster not listed", "error", err)
		}
		return o.hosts
	}
	o.listed = true
	hosts = slices.DeleteFunc(hosts, func(h wire.Host) bool { return h.ID == o.req.HostID })
	o.readInventories(ctx, hosts)
	o.hosts = o.hosts[:0]
	for _, h := range hosts {
		inventory := o.inventories[h.ID] // a host without one has no addresses
		name := h.RequestedHostname
		if name == "" {
			name = inventory.Hostname
		}
		o.hosts = append(o.hosts, otherHost{
			infraEnv: h.InfraEnvID, id: h.ID, role: model.Role(h.Role), stage: model.Stage(h.Progress.CurrentStage),
			name: name, addresses: addresses(&inventory),
		})
	}
	return o.hosts
}

// readInventories reads the inventories of hosts that are new here. The list of hosts comes
// without: they are large, and it is asked for at each report.
func (o *others) readInventories(ctx context.Context, hosts []wire.Host) {
	isNew := func(h wire.Host) bool {
		_, read := o.inventories[h.ID]
		return !read
	}
	if !slices.ContainsFunc(hosts, isNew) {
		return
	}
	all, err := o.Client.ClusterInventories(ctx, o.req.ClusterID)
	if err != nil {
		if ctx.Err() == nil {
			o.Log.Warn("inventories of the cluster not read", "error", err)
		}
		return
	}
	for _, h := range all {
		var inventory wire.Inventory
		if json.Unmarshal([]byte(h.Inventory), &inventory) == nil {
			o.inventories[h.ID] = inventory
		}
	}
}

// find searches for a host, first among the known ones, then among those the service has now.
func (o *others) find(ctx context.Context, is func(otherHost) bool) (otherHost, bool) {
	if n := slices.IndexFunc(o.hosts, is); n >= 0 {
		return o.hosts[n], true
	}
	if n := slices.IndexFunc(o.load(ctx), is); n >= 0 {
		return o.hosts[n], true
	}
	return otherHost{}, false
}

func addresses(inventory *wire.Inventory) []netip.Addr {
	var all []netip.Addr
	for _, nic := range inventory.Interfaces {
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				all = append(all, prefix.Addr())
			}
		}
	}
	return all
}

// joined reports that a host became a node.
func (o *others) joined(ctx context.Context, node Node) {
	host, known := o.find(ctx, func(h otherHost) bool {
		return strings.EqualFold(h.name, node.Name) || shareAddress(h.addresses, node.Addresses)
	})
	if known {
		o.report(ctx, host, model.StageJoined)
	}
}

// fetched reports the hosts that asked the machine config server for their Ignition: masters are configuring unless
// the server refused them, workers wait for theirs from the control plane.
func (o *others) fetched(ctx context.Context) {
	for _, f := range o.fetches() {
		host, known := o.find(ctx, func(h otherHost) bool { return slices.Contains(h.addresses, f.address) })
		switch {
		case !known:
		case host.role == model.RoleWorker:
			o.report(ctx, host, model.StageWaitingForIgnition)
		case f.refusal != "":
			o.refused(ctx, host, f.refusal)
		default:
			o.report(ctx, host, model.StageConfiguring)
		}
	}
}

// during queries the API of the new cluster, and meanwhile reports hosts that fetched their configuration: a
// starting API answers late, and hosts would become nodes before that was reported.
func (o *others) during(ctx context.Context, ask func()) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		ask()
	}()
	looks := time.NewTicker(o.FetchPause)
	defer looks.Stop()
	for {
		o.fetched(ctx)
		select {
		case <-answered:
			return
		case <-looks.C:
		}
	}
}

// report reports a stage unless the host has it or a later one already: others report stages too, and a log
// file names a host long after it joined.
func (o *others) report(ctx context.Context, host otherHost, stage model.Stage) {
	this := reportedStage{host.id, stage}
	if o.reported[this] {
		return
	}
	for _, now := range o.load(ctx) {
		if now.id == host.id {
			host = now
		}
	}
	stages := steps.StagesFor(host.role, false, false)
	if slices.Index(stages, stage) <= slices.Index(stages, host.stage) {
		o.reported[this] = true
		return
	}
	err := o.Client.UpdateHostProgress(ctx, host.infraEnv, host.id, wire.HostStage(stage), "")
	if err != nil {
		if ctx.Err() == nil {
			o.Log.Warn("stage of another host not reported", "host", host.id, "stage", stage, "error", err)
		}
		return
	}
	o.reported[this] = true
}

func shareAddress(a, b []netip.Addr) bool {
	return slices.ContainsFunc(a, func(x netip.Addr) bool { return slices.Contains(b, x) })
}
