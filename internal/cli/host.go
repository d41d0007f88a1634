package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
)

// HostCommands are the commands below "host".
type HostCommands struct {
	Connection

	List      hostList      `cmd:"" help:"List hosts."`
	Show      hostShow      `cmd:"" help:"Show a host, its hardware and the rules it does not meet."`
	Events    hostEvents    `cmd:"" help:"List the events of a host."`
	Set       hostSet       `cmd:"" help:"Change a host: its role, name, disks, labels, pool, fencing."`
	Recheck   hostRecheck   `cmd:"" help:"Repeat the check of a validation on a host."`
	Bind      hostBind      `cmd:"" help:"Bind an unbound host to a cluster."`
	Unbind    hostUnbind    `cmd:"" help:"Unbind a host from its cluster."`
	Install   hostInstall   `cmd:"" help:"Add a host to a running cluster."`
	Reset     hostReset     `cmd:"" help:"Stop the installation of an added host, and reset it to discovery."`
	Retry     hostRetry     `cmd:"" help:"Retry a single failed host of a running installation."`
	RetryStep hostRetryStep `cmd:"" name:"retry-step" help:"Retry the stage that a host failed in."`
	Evict     hostEvict     `cmd:"" help:"Continue an installation without a failed host."`
	Reclaim   hostReclaim   `cmd:"" help:"Remove a host from its cluster and return it to its InfraEnv."`
	Approve   hostApprove   `cmd:"" help:"Let the next machine that registers as this host take its place, without its token."`
	Delete    hostDelete    `cmd:"" help:"Forget a host."`
}

type hostList struct {
	scope
	watchFlag
	listFlags
	Status []wire.HostStatus `help:"Only hosts with one of these statuses." placeholder:"STATUS"`
	Role   []wire.HostRole   `enum:"master,arbiter,worker,auto-assign" help:"Only hosts with one of these roles: master, arbiter, worker, auto-assign." placeholder:"ROLE"`
}

// Run prints hosts.
func (k *hostList) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	if err := errors.Join(checkStatuses(k.Status), k.check()); err != nil {
		return err
	}
	return k.show(ctx, &at.Connection, t, func() (listing, error) {
		hosts, err := k.find(ctx, at.Client(), t, at.forPrograms())
		if err != nil {
			return listing{}, err
		}
		return listing{hosts, view.Hosts(hosts, t.Now())}, nil
	})
}

func (k *hostList) wantsHost(h *wire.Host, t *Terminal) bool {
	return k.wants(t, view.HostName(h), h.UpdatedAt.Time()) &&
		(len(k.Status) == 0 || slices.Contains(k.Status, h.Status)) && (len(k.Role) == 0 || slices.Contains(k.Role, h.Role))
}

type hostShow struct{ hostArgument }

// Run prints one host.
func (k *hostShow) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	h, err := k.find(ctx, at.Client())
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, h)
	}
	t.fields(
		"Name",
		view.HostName(h),
		"Id",
		h.ID.String(),
		"Status",
		string(h.Status),
		"Because",
		view.OneLine(h.StatusInfo),
		"Role",
		view.HostRole(h),
		"Stage",
		string(h.Progress.CurrentStage),
		"Progress",
		h.Progress.ProgressInfo,
		"Installs on",
		h.InstallationDiskPath,
		"Agent",
		h.DiscoveryAgentVersion,
		"Last seen",
		ago(t.age(h.CheckedInAt.Time())),
	)
	printHardware(t, h.Inventory)
	table := view.Table{Header: []string{"NOT PASSED", "BECAUSE"}}
	for _, v := range view.Failing(h.ValidationsInfo, true) {
		table.Add(v.ID, v.Message)
	}
	if len(table.Rows) > 0 {
		t.below(&table)
	}
	return nil
}

func ago(age string) string {
	if age == "" {
		return "never"
	}
	return age + " ago"
}

func printHardware(t *Terminal, text string) {
	var inventory wire.Inventory
	if json.Unmarshal([]byte(text), &inventory) != nil {
		return
	}
	v := inventory.SystemVendor
	t.printf("\n")
	t.fields("Machine", v.Manufacturer+" "+v.ProductName, "Serial", v.SerialNumber,
		"CPU", fmt.Sprintf("%d x %s", inventory.CPU.Count, inventory.CPU.ModelName),
		"Memory", humanize.IBytes(uint64(max(0, inventory.Memory.PhysicalBytes))))
	table := view.Table{Header: []string{"DISK", "TYPE", "SIZE", "MODEL", "USABLE"}}
	for _, d := range inventory.Disks {
		usable := "yes"
		if !d.InstallationEligibility.Eligible {
			usable = addresses(d.InstallationEligibility.NotEligibleReasons, func(s string) string { return s })
		}
		table.Add(d.Path, string(d.DriveType), humanize.Bytes(uint64(max(0, d.SizeBytes))), d.Model, usable)
	}
	t.below(&table)
	nics := view.Table{Header: []string{"NIC", "MAC", "MTU", "ADDRESSES"}}
	for _, n := range inventory.Interfaces {
		nics.Add(
			n.Name,
			n.MacAddress,
			fmt.Sprint(n.Mtu),
			addresses(append(n.Ipv4Addresses, n.Ipv6Addresses...), func(s string) string { return s }),
		)
	}
	t.below(&nics)
}
