package ignition

import (
	"fmt"
	"net/netip"
	"strings"

	"slipway/internal/ignition/document"
	"slipway/internal/model"
)

// RoleInput is what the config of a role is made of.
type RoleInput struct {
	Config    []byte // master.ign, arbiter.ign or worker.ign of the installer
	ServiceCA string // PEM; empty without
	IPv6      bool   // the machine networks hold an IPv6 one
}

// Role completes the config that all hosts of a role share (contract/ignition.md, 5b).
func Role(in RoleInput) ([]byte, error) {
	var parts []string
	if in.ServiceCA != "" {
		parts = append(parts, "ca-file")
	}
	if in.IPv6 {
		parts = append(parts, "ipv6")
	}
	if len(parts) == 0 {
		return in.Config, document.Check(in.Config)
	}
	ours, err := render(map[string]string{"ServiceCA": in.ServiceCA, "ServiceCAPath": ServiceCAPath}, parts...)
	if err != nil {
		return nil, fmt.Errorf("build role config: %w", err)
	}
	merged, err := document.Merge(in.Config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge role config: %w", err)
	}
	return merged, nil
}

// HostInput is what the installation config of a host is made of.
type HostInput struct {
	Host *model.Host
	Role []byte // the config of its role: a pointer to the machine config server, or Empty
	// NodeIPHint is an address of the network the node takes its own address from; the
	// zero value leaves the choice to the node.
	NodeIPHint netip.Addr
}

// Host builds the config a host is installed with: its role's, its name, the network
// of its address, the machine config pool it belongs to, and the user's overrides on
// top. A fault of the overrides is a model.ErrInvalid.
func Host(in HostInput) ([]byte, error) {
	config, err := pointToPool(in.Role, in.Host.MachineConfigPoolName)
	if err != nil {
		return nil, fmt.Errorf("read role config of host %s: %w", in.Host.ID, err)
	}
	data := map[string]string{"Hostname": in.Host.Hostname(), "NodeIPHint": in.NodeIPHint.String()}
	parts := []string{"hostname"}
	if in.NodeIPHint.IsValid() {
		parts = append(parts, "node-ip-hint")
	}
	ours, err := render(data, parts...)
	if err != nil {
		return nil, fmt.Errorf("build config of host %s: %w", in.Host.ID, err)
	}
	merged, err := document.Merge(config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge config of host %s: %w", in.Host.ID, err)
	}
	return apply(merged, override{"ignition_config_overrides", in.Host.IgnitionConfigOverrides})
}

// workerPath is where the machine config server offers the config of plain workers.
const workerPath = "/config/worker"

// pointToPool makes a worker's pointer lead to the config of another pool.
func pointToPool(config []byte, pool string) ([]byte, error) {
	if pool == "" {
		return config, nil
	}
	d, err := document.Parse(config)
	if err != nil {
		return nil, err
	}
	err = d.Sources(func(source string) string {
		if server, ok := strings.CutSuffix(source, workerPath); ok {
			return server + "/config/" + pool
		}
		return source
	})
	if err != nil {
		return nil, err
	}
	return d.Bytes()
}
