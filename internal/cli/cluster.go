package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// ClusterCommands are the commands below "cluster".
type ClusterCommands struct {
	Connection

	List          clusterList          `cmd:"" help:"List the clusters."`
	Show          clusterShow          `cmd:"" help:"Show a cluster, its hosts and its failing validations."`
	Create        clusterCreate        `cmd:"" help:"Define a cluster, with an InfraEnv for its hosts."`
	Export        clusterExport        `cmd:"" help:"Print the definition of a cluster, for 'cluster create --from'."`
	Import        clusterImport        `cmd:"" help:"Import a cluster that was installed elsewhere, to add hosts to it."`
	Set           clusterSet           `cmd:"" help:"Change the definition of a cluster."`
	Ignore        clusterIgnore        `cmd:"" help:"Ignore validations of a cluster and its hosts."`
	OnFailure     clusterOnFailure     `cmd:"" name:"on-failure" help:"Wait for a command when a host fails, or fail at once."`
	Platforms     clusterPlatforms     `cmd:"" help:"List the platforms that fit the hosts of a cluster."`
	Requirements  clusterRequirements  `cmd:"" help:"Show the requirements for the hosts of a cluster."`
	Operators     clusterOperators     `cmd:"" help:"List the operators of a cluster."`
	Manifests     clusterManifests     `cmd:"" help:"Add manifests to an installation."`
	InstallConfig clusterInstallConfig `cmd:"" name:"install-config" help:"Show or change the install-config."`
	Install       clusterInstall       `cmd:"" help:"Install a ready cluster."`
	Cancel        clusterCancel        `cmd:"" help:"Stop an installation."`
	Reset         clusterReset         `cmd:"" help:"Reset a cluster to discovery after a stopped or failed installation."`
	Pause         clusterPause         `cmd:"" help:"Pause an installation: every host finishes its stage and waits."`
	Resume        clusterResume        `cmd:"" help:"Resume a paused installation."`
	Extend        clusterExtend        `cmd:"" help:"Extend the timeout of a stalled installation."`
	AddHosts      clusterAddHosts      `cmd:"" name:"add-hosts" help:"Open an installed cluster for more hosts."`
	Delete        clusterDelete        `cmd:"" help:"Delete a cluster, and the InfraEnv that was created with it."`
	Undelete      clusterUndelete      `cmd:"" help:"Bring a deleted cluster back, until it is purged."`
	Events        clusterEvents        `cmd:"" help:"List the events of a cluster and its hosts."`
	Logs          clusterLogs          `cmd:"" help:"Download the logs of a cluster and its hosts."`
	Credentials   clusterCredentials   `cmd:"" help:"Print the console's address and its first user."`
	Kubeconfig    clusterKubeconfig    `cmd:"" help:"Download the kubeconfig."`
}

type clusterList struct {
	watchFlag
	listFlags
	Status  []wire.ClusterStatus `help:"Only clusters with one of these statuses." placeholder:"STATUS"`
	Deleted bool                 `help:"The deleted clusters that can be brought back."`
}

// Run prints the clusters.
func (k *clusterList) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	if err := errors.Join(checkStatuses(k.Status), k.check()); err != nil {
		return err
	}
	return k.show(ctx, &at.Connection, t, func() (listing, error) {
		if k.Deleted {
			return k.deleted(ctx, at, t)
		}
		clusters, err := k.clusters(ctx, at.Client(), t)
		if err != nil {
			return listing{}, failed(at.URL, "list the clusters", err)
		}
		return listing{clusters, clusterTable(clusters, t)}, nil
	})
}

func (k *clusterList) wantsStatus(status wire.ClusterStatus) bool {
	return len(k.Status) == 0 || slices.Contains(k.Status, status)
}

// deleted lists deleted clusters, with the statuses that they had.
func (k *clusterList) deleted(ctx context.Context, at *ClusterCommands, t *Terminal) (listing, error) {
	clusters, err := at.Client().DeletedClusters(ctx)
	if err != nil {
		return listing{}, failed(at.URL, "list the deleted clusters", err)
	}
	clusters = slices.DeleteFunc(clusters, func(c wire.DeletedCluster) bool {
		return !k.wantsStatus(c.Status) || !k.wants(t, c.Name, c.DeletedAt.Time())
	})
	clusters = first(k.listFlags, clusters)
	table := &view.Table{Header: []string{"NAME", "ID", "VERSION", "STATUS", "DELETED", "KEPT UNTIL"}}
	for _, c := range clusters {
		until := c.KeptUntil.Time().Local().Format(time.DateTime)
		table.Add(c.Name, c.ID.String(), c.OpenShiftVersion, string(c.Status), t.age(c.DeletedAt.Time()), until)
	}
	return listing{clusters, table}, nil
}

func clusterTable(clusters []wire.Cluster, t *Terminal) *view.Table {
	table := &view.Table{Header: []string{"NAME", "ID", "VERSION", "STATUS", "HOSTS", "DONE", "AGE"}}
	for _, c := range clusters {
		table.Add(c.Name, c.ID.String(), c.OpenshiftVersion, string(c.Status), strconv.FormatInt(c.TotalHostCount, 10),
			percent(c.Progress.TotalPercentage), t.age(c.CreatedAt.Time()))
	}
	return table
}

// status is a closed set of the API.
type status interface {
	~string
	Valid() bool
}

func checkStatuses[S status](all []S) error {
	for _, s := range all {
		if !s.Valid() {
			return usagef("--status: require a status of the API, such as ready or known, found %q", s)
		}
	}
	return nil
}

func percent(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", n)
}

type clusterShow struct{ clusterArgument }

// Run prints one cluster.
func (s *clusterShow) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c, err := s.find(ctx, at.Client())
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, c)
	}
	release, signature := releaseOf(ctx, at, c)
	t.fields(
		"Name",
		c.Name,
		"Id",
		c.ID.String(),
		"Status",
		string(c.Status),
		"Because",
		view.OneLine(c.StatusInfo),
		"Done",
		percent(c.Progress.TotalPercentage),
		"Finalizing",
		string(c.Progress.FinalizingStage),
		"OpenShift",
		c.OpenshiftVersion,
		"Release",
		release,
		"Signature",
		signature,
		"Domain",
		c.Name+"."+c.BaseDNSDomain,
		"Control plane",
		strconv.Itoa(c.ControlPlaneCount),
		"API",
		addresses(c.APIVips, func(v wire.APIVip) string { return v.IP }),
		"Ingress",
		addresses(c.IngressVips, func(v wire.IngressVip) string { return v.IP }),
		"Networks",
		addresses(c.MachineNetworks, func(n wire.MachineNetwork) string { return n.Cidr }),
	)
	if len(c.Hosts) > 0 {
		t.below(view.Hosts(c.Hosts, t.Now()))
	}
	printWaits(ctx, at, t, c)
	if c.Status != wire.ClusterStatusInstalled {
		printFailing(t, c)
	}
	printOperators(t, c.MonitoredOperators)
	return nil
}

// releaseOf returns the release that the installation of a cluster uses, by its digest, and what its signatures say; both are empty before
// one, and of a service that does not answer.
func releaseOf(ctx context.Context, at *ClusterCommands, c *wire.Cluster) (pullSpec, verdict string) {
	release, err := at.Client().ClusterRelease(ctx, c.ID, client.WithTimeout(workflowTime))
	switch {
	case err != nil || release.PullSpec == "":
		return "", ""
	case release.SignedBy != "":
		return release.PullSpec, "good, by " + release.SignedBy
	case release.Problem != "":
		return release.PullSpec, "not verified: " + view.OneLine(release.Problem)
	}
	return release.PullSpec, "not verified: --release-signatures is off"
}

func addresses[T any](all []T, text func(T) string) string {
	texts := make([]string, len(all))
	for n, v := range all {
		texts[n] = text(v)
	}
	return strings.Join(texts, ", ")
}

// printFailing lists the validations that fail for a cluster or its hosts.
func printFailing(t *Terminal, c *wire.Cluster) {
	table := view.Table{Header: []string{"NOT PASSED", "BY", "BECAUSE"}}
	for _, v := range view.Failing(c.ValidationsInfo, true) {
		table.Add(v.ID, "cluster", v.Message)
	}
	for n := range c.Hosts {
		for _, v := range view.Failing(c.Hosts[n].ValidationsInfo, false) {
			table.Add(v.ID, view.HostName(&c.Hosts[n]), v.Message)
		}
	}
	if len(table.Rows) > 0 {
		t.below(&table)
	}
}

func printOperators(t *Terminal, operators []wire.MonitoredOperator) {
	table := view.Table{Header: []string{"OPERATOR", "STATUS", "VERSION", "INFO"}}
	for _, o := range operators {
		if o.Status != "" {
			table.Add(o.Name, string(o.Status), o.Version, o.StatusInfo)
		}
	}
	if len(table.Rows) > 0 {
		t.below(&table)
	}
}
