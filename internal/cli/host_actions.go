package cli

import (
	"context"
	"errors"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
)

type hostRetry struct{ hostArgument }

// Run starts a failed host again.
func (k *hostRetry) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	c := at.Client()
	h, err := k.find(ctx, c, k.Host)
	if err != nil {
		return err
	}
	if h, err = c.ResetHost(ctx, h.InfraEnvID, h.ID); err != nil {
		return failed(at.URL, "retry host "+k.Host, err)
	}
	return k.print(at, t, h, "starts again")
}

func (k *hostArgument) print(at *HostCommands, t *Terminal, h *wire.Host, does string) error {
	if at.json() {
		return t.json(h)
	}
	t.printf("host %s %s\n", view.HostName(h), does)
	return nil
}

type hostDelete struct{ hostArgument }

// Run forgets a host.
func (k *hostDelete) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	c := at.Client()
	h, err := k.find(ctx, c, k.Host)
	if err != nil {
		return err
	}
	if err := c.DeleteHost(ctx, h.InfraEnvID, h.ID); err != nil {
		return failed(at.URL, "delete host "+k.Host, err)
	}
	if !at.json() {
		t.printf("host %s deleted\n", view.HostName(h))
	}
	return nil
}

type hostSet struct {
	hostArgument
	Role     string `enum:"auto-assign,master,arbiter,worker," default:"" help:"Role: auto-assign, master, arbiter or worker."`
	Hostname string `help:"Name the host gets."`
	Disk     string `help:"Disk to install on: its id, path or name."`
}

// Run changes a host.
func (k *hostSet) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	if k.Role == "" && k.Hostname == "" && k.Disk == "" {
		return errors.New("require --role, --hostname or --disk")
	}
	c := at.Client()
	h, err := k.find(ctx, c, k.Host)
	if err != nil {
		return err
	}
	var params wire.HostUpdateParams
	if k.Role != "" {
		role := wire.HostUpdateParamsHostRole(k.Role)
		params.HostRole = &role
	}
	if k.Hostname != "" {
		params.HostName = &k.Hostname
	}
	if k.Disk != "" {
		install := wire.DiskRoleInstall
		params.DisksSelectedConfig = &[]wire.DiskConfigParams{{ID: k.Disk, Role: &install}}
	}
	if h, err = c.UpdateHost(ctx, h.InfraEnvID, h.ID, params); err != nil {
		return failed(at.URL, "change host "+k.Host, err)
	}
	return k.print(at, t, h, "is changed")
}
