package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
)

// store writes everything hosts and users download. Writing it again is harmless.
func (a *Files) store(ctx context.Context, c *model.Cluster, hosts []*model.Host, config []byte, out *release.Output) error {
	bootstrap, err := ignition.Bootstrap(ignition.BootstrapInput{Config: out.Bootstrap, Hosts: hosts, SingleNode: c.SingleNode()})
	if err != nil {
		return refuse(err)
	}
	files := map[string][]byte{
		"install-config.yaml": config, "bootstrap.ign": bootstrap, "metadata.json": out.Metadata,
		"kubeconfig-noingress": out.Kubeconfig, "kubeadmin-password": []byte(out.KubeadminPassword.Reveal()),
		"installer.log": []byte(out.Log),
	}
	if err := lateManifests(c, hosts, files); err != nil {
		return refuse(err)
	}
	roles := map[model.Role][]byte{}
	for role, raw := range map[model.Role][]byte{model.RoleMaster: out.Master, model.RoleWorker: out.Worker, model.RoleArbiter: out.Arbiter} {
		if len(raw) == 0 {
			continue
		}
		if roles[role], err = ignition.Role(roleInput(c, hosts, role, raw, a.ServiceCA)); err != nil {
			return refuse(err)
		}
		files[string(role)+".ign"] = roles[role]
	}
	hints := nodeaddress.Of(c, hosts).Hints
	for _, h := range hosts {
		config, err := ignition.Host(ignition.HostInput{Host: h, Role: roles[h.Role], NodeIPHint: hints[h.ID]})
		if err != nil {
			return refuse(err)
		}
		files[ignition.HostFileName(h.Role, h.ID)] = config
	}
	for name, data := range files {
		if _, err := a.Blob.PutSecret(ctx, blob.ClusterFile(c.ID, name), data); err != nil {
			return fmt.Errorf("store %s: %w", name, err)
		}
	}
	return a.recordID(ctx, c.ID, out.Metadata)
}

// recordID keeps the ID that the installer has given to the cluster (openshift/installer, pkg/types/clustermetadata.go).
func (a *Files) recordID(ctx context.Context, id uuid.UUID, metadata []byte) error {
	var found struct {
		ClusterID uuid.UUID `json:"clusterID"`
	}
	if err := json.Unmarshal(metadata, &found); err != nil {
		return refuse(fmt.Errorf("read the installer's metadata.json: %w", err))
	}
	_, err := a.Store.UpdateCluster(ctx, id, func(c *model.Cluster, _ *store.Tx) error {
		c.OpenShiftClusterID = &found.ClusterID
		return nil
	})
	return nonRetryable(err)
}

// lateManifests adds the files with what the controller applies at the end.
func lateManifests(c *model.Cluster, hosts []*model.Host, files map[string][]byte) error {
	late, err := manifests.LateManifests(c, hosts)
	if err != nil {
		return err
	}
	files["custom_manifests.json"], files["custom_manifests.yaml"], err = manifests.LateFiles(late)
	return err
}

// roleInput returns the input for the config of a role.
func roleInput(c *model.Cluster, hosts []*model.Host, role model.Role, config []byte, serviceCA string) ignition.RoleInput {
	in := ignition.RoleInput{Config: config, ServiceCA: serviceCA, IPv6: hasIPv6(c, hosts)}
	if role == model.RoleMaster && c.VIPDHCPAllocation && len(c.APIVIPs) > 0 && len(c.IngressVIPs) > 0 {
		in.VIPLeases = &ignition.VIPLeases{
			API:     ignition.VIPLease{IP: c.APIVIPs[0].IP, MAC: duesteps.VIPMAC(c.ID, "api"), Lease: c.APIVIPLease},
			Ingress: ignition.VIPLease{IP: c.IngressVIPs[0].IP, MAC: duesteps.VIPMAC(c.ID, "ingress"), Lease: c.IngressVIPLease},
		}
	}
	return in
}

// hasIPv6 reports whether nodes may get an IPv6 address by DHCP: their identity there must not change with the
// system that they boot. With networks of the user the hosts show it, no machine network does.
func hasIPv6(c *model.Cluster, hosts []*model.Host) bool {
	for _, n := range c.Effective().MachineNetworks {
		if n.Addr().Is6() {
			return true
		}
	}
	for _, h := range hosts {
		for _, nic := range hardware.NICs(h.Inventory) {
			if slices.ContainsFunc(nic.Addresses, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
				return true
			}
		}
	}
	return false
}
