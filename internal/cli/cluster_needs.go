package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterPlatforms struct{ clusterArgument }

// Run prints the platforms that fit the hosts of a cluster.
func (k *clusterPlatforms) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	platforms, err := ask(
		ctx,
		&at.Connection,
		k,
		"list the platforms of",
		func(c *client.Client, found *wire.Cluster) ([]wire.PlatformType, error) {
			return c.SupportedPlatforms(ctx, found.ID)
		},
	)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, platforms)
	}
	for _, p := range platforms {
		t.printf("%s\n", p)
	}
	return nil
}

type clusterRequirements struct {
	clusterArgument
	All bool `help:"Include the requirements of operators that the cluster does not have."`
}

// Run prints the requirements for the hosts of a cluster.
func (k *clusterRequirements) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	var chosen []wire.MonitoredOperator
	needs, err := ask(
		ctx,
		&at.Connection,
		k,
		"read the requirements of",
		func(c *client.Client, found *wire.Cluster) (wire.PreflightHardwareRequirements, error) {
			chosen = found.MonitoredOperators
			return c.Requirements(ctx, found.ID)
		},
	)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, needs)
	}
	table := view.Table{Header: []string{"FOR", "ROLE", "CPU CORES", "MEMORY", "DISK", "ALSO"}}
	addNeeds(&table, "OpenShift", "", needs.Ocp)
	for _, o := range needs.Operators {
		if k.All || slices.ContainsFunc(chosen, func(c wire.MonitoredOperator) bool { return c.Name == o.OperatorName }) {
			addNeeds(&table, o.OperatorName, "+", o.Requirements)
		}
	}
	at.table(t, &table)
	return nil
}

// addNeeds adds a row a role; sign stands before what is needed.
func addNeeds(table *view.Table, of, sign string, needs wire.HostTypeHardwareRequirementsWrapper) {
	amount := func(n int, text string) string {
		if n == 0 {
			return ""
		}
		return sign + text
	}
	for _, role := range []struct {
		name  string
		needs wire.HostTypeHardwareRequirements
	}{{"master", needs.Master}, {"worker", needs.Worker}} {
		n := role.needs.Quantitative
		table.Add(
			of,
			role.name,
			amount(n.CPUCores, strconv.Itoa(n.CPUCores)),
			amount(n.RAMMib, humanize.IBytes(uint64(max(0, n.RAMMib))<<20)),
			amount(n.DiskSizeGb, strconv.Itoa(n.DiskSizeGb)+" GB"),
			strings.Join(role.needs.Qualitative, "; "),
		)
	}
}

type clusterOperators struct{ clusterArgument }

// Run prints the operators of a cluster: those chosen, what they need, and its own.
func (k *clusterOperators) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := k.find(ctx, at.Client())
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, cluster.MonitoredOperators)
	}
	table := view.Table{Header: []string{"OPERATOR", "FROM", "STATUS", "VERSION", "PROPERTIES", "INFO"}, Limits: []int{0, 0, 0, 0, 40}}
	slices.SortFunc(cluster.MonitoredOperators, func(a, b wire.MonitoredOperator) int { return cmp.Compare(a.Name, b.Name) })
	for _, o := range cluster.MonitoredOperators {
		table.Add(o.Name, origin(o), string(o.Status), o.Version, o.Properties, o.StatusInfo)
	}
	at.table(t, &table)
	return nil
}

// origin returns the reason why a cluster has an operator.
func origin(o wire.MonitoredOperator) string {
	switch {
	case o.OperatorType == wire.Builtin:
		return "OpenShift"
	case len(o.SourceBundles) > 0:
		return strings.Join(o.SourceBundles, ", ")
	case o.DependencyOnly:
		return "dependency"
	}
	return "user"
}
