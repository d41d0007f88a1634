package installer

import (
	"context"
	"encoding/json"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// arbiters is how many arbiters the cluster has besides this host; unknown until the service listed the hosts.
func (o *others) arbiters(ctx context.Context) (count int, known bool) {
	if !o.listed {
		o.load(ctx)
	}
	for _, h := range o.hosts {
		if h.role == model.RoleArbiter {
			count++
		}
	}
	return count, o.listed
}

// withoutCloud reports whether the cluster is on a platform whose controller cannot initialize nodes: its users
// give it credentials after the installation (openshift/assisted-installer, removal of the taint on vSphere and
// Nutanix). With credentials in the overrides the controller does it, and also records which machine a node is.
func (o *others) withoutCloud(ctx context.Context) bool {
	if o.cluster == nil {
		cluster, err := o.Client.ClusterWithoutHosts(ctx, o.req.ClusterID)
		if err != nil {
			if ctx.Err() == nil {
				o.Log.Warn("platform of the cluster not read", "error", err)
			}
			return false
		}
		o.cluster = cluster
	}
	switch o.cluster.Platform.Type {
	case wire.PlatformTypeVsphere, wire.PlatformTypeNutanix:
		return !hasCredentials(o.cluster.InstallConfigOverrides)
	default:
		return false
	}
}

// hasCredentials reports whether overrides of the install-config hold a password of vSphere or Nutanix.
func hasCredentials(overrides string) bool {
	var config struct {
		Platform struct {
			VSphere struct {
				Password string `json:"password"`
				VCenters []struct {
					Password string `json:"password"`
				} `json:"vcenters"`
			} `json:"vsphere"`
			Nutanix struct {
				PrismCentral struct {
					Password string `json:"password"`
				} `json:"prismCentral"`
			} `json:"nutanix"`
		} `json:"platform"`
	}
	if json.Unmarshal([]byte(overrides), &config) != nil {
		return false
	}
	found := config.Platform.VSphere.Password != "" || config.Platform.Nutanix.PrismCentral.Password != ""
	for _, center := range config.Platform.VSphere.VCenters {
		found = found || center.Password != ""
	}
	return found
}
