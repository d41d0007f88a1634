package ignition

import (
	"fmt"
	"net/netip"
	"strings"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// RoleInput is the input of a role's config.
type RoleInput struct {
	Config    []byte // master.ign, arbiter.ign or worker.ign of the installer
	ServiceCA string // PEM; empty without
	IPv6      bool   // nodes have IPv6 addresses
	// VIPLeases are set where a DHCP server assigns the virtual addresses; masters only.
	VIPLeases *VIPLeases
}

// VIPLeases are the virtual addresses that hosts keep alive at a DHCP server.
type VIPLeases struct{ API, Ingress VIPLease }

// VIPLease is the lease of a virtual address.
type VIPLease struct {
	IP    netip.Addr
	MAC   string // of the client that the address is assigned to
	Lease string // as the DHCP client wrote it (dhclient.leases(5)); empty when unknown
}

// Role completes the config that all hosts of a role share (docs/reference/ignition.md,
// "Config of a role").
func Role(in RoleInput) ([]byte, error) {
	configs := [][]byte{in.Config}
	for _, fragment := range []struct {
		template string
		when     bool
		data     any
	}{
		{"ca-file", in.ServiceCA != "", map[string]string{"ServiceCA": in.ServiceCA, "ServiceCAPath": ServiceCAPath}},
		{"ipv6", in.IPv6, nil},
		{"vip-leases", in.VIPLeases != nil, in.VIPLeases},
	} {
		if !fragment.when {
			continue
		}
		ours, err := render(fragment.data, fragment.template)
		if err != nil {
			return nil, fmt.Errorf("build role config: %w", err)
		}
		configs = append(configs, ours)
	}
	if len(configs) == 1 {
		return in.Config, document.Check(in.Config) // as the installer wrote it, byte by byte
	}
	merged, err := document.Merge(configs...)
	if err != nil {
		return nil, fmt.Errorf("merge role config: %w", err)
	}
	return merged, nil
}

// HostInput is the input of a host's installation config.
type HostInput struct {
	Host *model.Host
	Role []byte // the config of its role: a pointer to the machine config server, or Empty
	// NodeIPHint is an address of the network the node takes its own address from; the
	// zero value leaves the choice to the node.
	NodeIPHint netip.Addr
}

// Host builds the config a host is installed with: its role's, its name, the network of its address, the
// machine config pool it belongs to, and the user's overrides on top. A fault of the overrides is a
// model.ErrInvalid.
func Host(in HostInput) ([]byte, error) {
	config, err := pointToPool(in.Role, in.Host.MachineConfigPoolName)
	if err != nil {
		return nil, fmt.Errorf("read role config of host %s: %w", in.Host.ID, err)
	}
	data := map[string]string{"Hostname": in.Host.Hostname(), "NodeIPHint": in.NodeIPHint.String()}
	fragments := []string{"hostname"}
	if in.NodeIPHint.IsValid() {
		fragments = append(fragments, "node-ip-hint")
	}
	if besideOldRoot(in.Host) {
		fragments = append(fragments, "old-root")
	}
	ours, err := render(data, fragments...)
	if err != nil {
		return nil, fmt.Errorf("build config of host %s: %w", in.Host.ID, err)
	}
	merged, err := document.Merge(config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge config of host %s: %w", in.Host.ID, err)
	}
	return apply(merged, override{"ignition_config_overrides", in.Host.IgnitionConfigOverrides})
}

// besideOldRoot reports whether a host is installed into the system it was discovered
// with, which booted from a disk and not from an image in memory.
func besideOldRoot(h *model.Host) bool {
	return h.Inventory != nil && h.Inventory.Boot.DeviceType == wire.Persistent
}

// workerPath is where the machine config server offers the config of plain workers.
const workerPath = "/config/worker"

// pointToPool makes a worker's pointer refer to the config of another pool.
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
