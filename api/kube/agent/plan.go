// Package agent lets each host that booted from the image of a resource InfraEnv have a resource Agent, and the host follow it. Plan and
// Status decide, without asking anybody; Reconciler reads and applies.
package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/wire"
)

// Inputs has everything that an Agent depends on, read at one time.
type Inputs struct {
	Resource *agentinstall.Agent
	Host     *wire.Host
	// ClusterID is the cluster of spec.clusterDeploymentName; zero: the spec names none.
	ClusterID uuid.UUID
	// Token is the text of the Secret that spec.ignitionEndpointTokenReference names.
	Token string
	// Fencing is the content of the Secret that spec.fencingCredentialsSecretRef names; nil: the spec names none.
	Fencing *wire.FencingCredentialsParams
	// SecretsKept is set when the service has taken the settings in Hidden already.
	SecretsKept bool
}

// Calls are the requests that let the host follow its Agent. An Unbind comes alone: the host is planned again when it has left.
type Calls struct {
	Unbind        bool
	Bind          uuid.UUID
	Update        *wire.HostUpdateParams
	InstallerArgs *[]string
	Ignition      *string
}

// changeable lists the statuses in which the API takes settings of a host.
var changeable = map[wire.HostStatus]bool{
	wire.HostStatusDiscovering: true, wire.HostStatusKnown: true, wire.HostStatusDisconnected: true, wire.HostStatusInsufficient: true,
	wire.HostStatusPendingForInput: true, wire.HostStatusDisconnectedUnbound: true, wire.HostStatusInsufficientUnbound: true,
	wire.HostStatusDiscoveringUnbound: true, wire.HostStatusKnownUnbound: true, wire.HostStatusBinding: true,
}

// leaving lists the statuses of hosts that are on their way out of their cluster.
var leaving = map[wire.HostStatus]bool{
	wire.HostStatusUnbinding: true, wire.HostStatusUnbindingPendingUserAction: true,
	wire.HostStatusReclaiming: true, wire.HostStatusReclaimingRebooting: true,
}

// Plan compares a host with its Agent. A name, role, pool and disk that the spec leaves empty stay as the service has them; installer
// arguments, Ignition, labels, fencing, and the token and headers of the Ignition endpoint are removed. A host that is being installed
// keeps its settings.
func Plan(in Inputs) (Calls, error) {
	spec, h := &in.Resource.Spec, in.Host
	switch bound := h.ClusterID; {
	case leaving[h.Status]:
		return Calls{}, nil
	case bound != uuid.Nil && bound != in.ClusterID:
		return Calls{Unbind: true}, nil
	}
	var calls Calls
	if h.ClusterID != in.ClusterID {
		calls.Bind = in.ClusterID
	}
	if !changeable[h.Status] {
		return calls, nil
	}
	arguments, err := list(spec.InstallerArgs)
	if err != nil {
		return calls, &resource.InputError{Err: fmt.Errorf("spec.installerArgs: %w", err)}
	}
	if now, _ := list(h.InstallerArgs); !slices.Equal(arguments, now) {
		calls.InstallerArgs = &arguments
	}
	if spec.IgnitionConfigOverrides != h.IgnitionConfigOverrides {
		calls.Ignition = &spec.IgnitionConfigOverrides
	}
	update, err := settings(in)
	if err != nil {
		return calls, err
	}
	if update != (wire.HostUpdateParams{}) {
		calls.Update = &update
	}
	return calls, nil
}

// settings returns what differs between a host and its Agent.
func settings(in Inputs) (wire.HostUpdateParams, error) {
	spec, h := &in.Resource.Spec, in.Host
	var update wire.HostUpdateParams
	if !in.SecretsKept {
		update = Hidden(in)
	}
	if spec.Hostname != "" && spec.Hostname != h.RequestedHostname {
		update.HostName = &spec.Hostname
	}
	if spec.Role != "" && spec.Role != string(h.Role) {
		update.HostRole = new(wire.HostUpdateParamsHostRole(spec.Role))
	}
	if spec.MachineConfigPool != "" && spec.MachineConfigPool != h.MachineConfigPoolName {
		update.MachineConfigPoolName = &spec.MachineConfigPool
	}
	disk, err := chosenDisk(spec, h)
	if err != nil {
		return update, err
	}
	if disk != "" && disk != h.InstallationDiskID {
		update.DisksSelectedConfig = &[]wire.DiskConfigParams{{ID: disk, Role: new(wire.DiskRoleInstall)}}
	}
	var labels map[string]string
	if h.NodeLabels != "" {
		if err := json.Unmarshal([]byte(h.NodeLabels), &labels); err != nil {
			return update, fmt.Errorf("read the labels of host %s: %w", h.ID, err)
		}
	}
	if !maps.Equal(labels, spec.NodeLabels) {
		wanted := make([]wire.NodeLabelParams, 0, len(spec.NodeLabels))
		for _, key := range slices.Sorted(maps.Keys(spec.NodeLabels)) {
			wanted = append(wanted, wire.NodeLabelParams{Key: key, Value: spec.NodeLabels[key]})
		}
		update.NodeLabels = &wanted
	}
	return update, nil
}

// Hidden returns the settings that the service does not show again: token and headers of the Ignition endpoint, and fencing. They are reset
// where the spec has none and the service may have some.
func Hidden(in Inputs) wire.HostUpdateParams {
	spec, h := &in.Resource.Spec, in.Host
	var update wire.HostUpdateParams
	if in.Token != "" || h.IgnitionEndpointTokenSet {
		update.IgnitionEndpointToken = &in.Token
	}
	if len(spec.IgnitionEndpointHTTPHeaders) > 0 {
		headers := make([]wire.IgnitionEndpointHTTPHeadersParams, 0, len(spec.IgnitionEndpointHTTPHeaders))
		for _, key := range slices.Sorted(maps.Keys(spec.IgnitionEndpointHTTPHeaders)) {
			headers = append(headers, wire.IgnitionEndpointHTTPHeadersParams{Key: key, Value: spec.IgnitionEndpointHTTPHeaders[key]})
		}
		update.IgnitionEndpointHTTPHeaders = &headers
	}
	if in.Fencing != nil {
		update.FencingCredentials = in.Fencing
	} else if h.FencingCredentials != "" {
		update.FencingCredentials = &wire.FencingCredentialsParams{} // three empty values take it back
	}
	return update
}

// list reads a list of texts in JSON; an empty text is an empty list.
func list(text string) ([]string, error) {
	out := []string{}
	if text == "" {
		return out, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("require a list of texts in JSON: %w", err)
	}
	return out, nil
}

// chosenDisk returns the ID of the disk that the spec names; empty: it names none.
func chosenDisk(spec *agentinstall.AgentSpec, h *wire.Host) (string, error) {
	if spec.InstallationDiskID != "" || spec.InstallationDiskPath == "" {
		return spec.InstallationDiskID, nil
	}
	inventory, err := inventoryOf(h)
	if err != nil {
		return "", err
	}
	path := spec.InstallationDiskPath
	for _, d := range inventory.Disks {
		if path == d.ByPath || path == d.ByID || path == d.Path {
			return d.ID, nil
		}
	}
	return "", &resource.InputError{Err: fmt.Errorf("spec.installation_disk_path: require a path of a disk in the inventory, found %q", path)}
}

// inventoryOf reads the inventory of a host; a host that has sent none has an empty one.
func inventoryOf(h *wire.Host) (wire.Inventory, error) {
	var inventory wire.Inventory
	if h.Inventory == "" {
		return inventory, nil
	}
	if err := json.Unmarshal([]byte(h.Inventory), &inventory); err != nil {
		return inventory, fmt.Errorf("read the inventory of host %s: %w", h.ID, err)
	}
	return inventory, nil
}
