package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

type hostSet struct {
	hostArgument
	Role          *wire.HostUpdateParamsHostRole `enum:"auto-assign,master,arbiter,worker" help:"Role: auto-assign, master, arbiter or worker." placeholder:"ROLE"`
	Hostname      *string                        `help:"Name the host gets."`
	Disk          *string                        `help:"Disk to install on: its id, path or name."`
	KeepDisk      []string                       `help:"Disk whose content stays: its id, path or name; repeatable." placeholder:"DISK"`
	FormatDisk    []string                       `help:"Disk whose content need not stay any more; repeatable." placeholder:"DISK"`
	Label         map[string]string              `help:"Label of the node, replacing all previous ones; repeatable." placeholder:"KEY=VALUE"`
	Pool          *string                        `help:"Machine config pool the node joins." placeholder:"NAME"`
	Token         []byte                         `name:"ignition-token" type:"filecontent" help:"File with a joining host's token for the ignition endpoint." placeholder:"FILE"`
	Fencing       fencingFlags                   `embed:"" prefix:"fencing-"`
	InstallerArgs []string                       `name:"installer-arg" sep:"none" help:"Argument of coreos-installer, replacing all previous ones; repeatable." placeholder:"ARG"`
	Ignition      []byte                         `type:"filecontent" help:"File with a config to merge with the host's Ignition." placeholder:"FILE"`
}

// fencingFlags are the credentials by which a control plane of two nodes turns the host off.
type fencingFlags struct {
	Address  *string       `help:"Address of the host's management controller (Redfish)." placeholder:"URL"`
	User     string        `help:"User there."`
	Password *model.Secret `env:"SLIPWAY_FENCING_PASSWORD" help:"Password there; better in the environment."`
	Insecure bool          `help:"Do not check its certificate."`
}

// Run changes a host.
func (k *hostSet) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	changes := k.changes()
	if len(changes) == 0 {
		return usagef("require a flag with what to change")
	}
	return k.act(ctx, at, t, "change", "is changed",
		func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (h *wire.Host, err error) {
			for _, change := range changes {
				if h, err = change(c, ctx, infraEnvID, hostID, options...); err != nil {
					return nil, err
				}
			}
			return h, nil
		})
}

// changes lists the operations that the flags ask for.
func (k *hostSet) changes() []hostAction {
	var all []hostAction
	if params := k.params(); params != (wire.HostUpdateParams{}) {
		all = append(
			all,
			func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error) {
				return c.UpdateHost(ctx, infraEnvID, hostID, params, options...)
			},
		)
	}
	if args := each(k.InstallerArgs, func(a string) string { return a }); args != nil {
		all = append(
			all,
			func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error) {
				return c.SetInstallerArgs(ctx, infraEnvID, hostID, *args, options...)
			},
		)
	}
	if k.Ignition != nil {
		all = append(
			all,
			func(c *client.Client, ctx context.Context, infraEnvID, hostID uuid.UUID, options ...client.Option) (*wire.Host, error) {
				if err := c.SetHostIgnition(ctx, infraEnvID, hostID, lines(k.Ignition), options...); err != nil {
					return nil, err
				}
				return c.Host(ctx, infraEnvID, hostID, options...)
			},
		)
	}
	return all
}

// params returns the fields of the API that the flags set.
func (k *hostSet) params() wire.HostUpdateParams {
	p := wire.HostUpdateParams{
		HostRole:              k.Role,
		HostName:              k.Hostname,
		MachineConfigPoolName: k.Pool,
		IgnitionEndpointToken: content(k.Token),
	}
	if k.Disk != nil {
		install := wire.DiskRoleInstall
		p.DisksSelectedConfig = &[]wire.DiskConfigParams{{ID: *k.Disk, Role: &install}}
	}
	var disks []wire.DiskSkipFormattingParams
	for _, id := range k.KeepDisk {
		disks = append(disks, wire.DiskSkipFormattingParams{DiskID: id, SkipFormatting: true})
	}
	for _, id := range k.FormatDisk {
		disks = append(disks, wire.DiskSkipFormattingParams{DiskID: id})
	}
	if disks != nil {
		p.DisksSkipFormatting = &disks
	}
	if k.Label != nil {
		labels := []wire.NodeLabelParams{}
		for _, key := range slices.Sorted(maps.Keys(k.Label)) {
			labels = append(labels, wire.NodeLabelParams{Key: key, Value: k.Label[key]})
		}
		p.NodeLabels = &labels
	}
	p.FencingCredentials = k.Fencing.credentials()
	return p
}

func (f *fencingFlags) credentials() *wire.FencingCredentialsParams {
	if f.Address == nil {
		return nil
	}
	out := &wire.FencingCredentialsParams{Address: *f.Address, Username: f.User}
	if f.Password != nil {
		out.Password = f.Password.Reveal()
	}
	if f.Insecure {
		disabled := wire.FencingCredentialsParamsCertificateVerificationDisabled
		out.CertificateVerification = &disabled
	}
	return out
}
