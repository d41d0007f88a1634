package api

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/support"
	"slipway/internal/wire"
)

// controlPlanes are the sizes a control plane may have, and the version each came with
// (contract/operators-and-features.md, 9c); "" for always.
var controlPlanes = map[int]string{1: "", 2: "4.19", 3: "", 4: "4.18", 5: "4.18"}

// newCluster makes a cluster of what a client sent and the defaults of everything else
// (contract/live/exchanges.json).
func (s *server) newCluster(p wire.ClusterCreateParams) (*model.Cluster, error) {
	release, err := s.Releases.Find(p.OpenshiftVersion)
	if err != nil {
		return nil, err
	}
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, Status: model.ClusterInsufficient,
		StatusInfo: "Cluster is being checked", WorkflowStarted: true,
		PullSecret: model.Secret(p.PullSecret), UserName: anyone.Name,
		OpenShiftVersion: release.Version, ReleaseImage: release.Image,
		CPUArchitecture: "x86_64", Platform: model.Platform{Type: "baremetal"}, LoadBalancer: clusterManaged,
		NetworkType: support.DefaultNetworkType, MachineNetworksAuto: true, Hyperthreading: "all",
		DiskEncryption: model.DiskEncryption{EnableOn: "none", Mode: "tpmv2"},
	}
	set(&c.ReleaseImage, p.OcpReleaseImage)
	if p.CPUArchitecture != nil {
		c.CPUArchitecture = string(*p.CPUArchitecture)
	}
	if err := checkArchitecture(release, c.CPUArchitecture); err != nil {
		return nil, err
	}
	if c.ControlPlaneCount, err = controlPlaneCount(p); err != nil {
		return nil, err
	}
	settings, err := asUpdate(p)
	if err != nil {
		return nil, err
	}
	if err := applySettings(c, settings); err != nil {
		return nil, err
	}
	defaultNetworks(c)
	if err := checkControlPlane(c); err != nil {
		return nil, err
	}
	return c, checkPullSecret(p.PullSecret, s.privateRegistries(c.ReleaseImage)...)
}

// asUpdate gives the fields that registration and update have in common.
func asUpdate(p wire.ClusterCreateParams) (wire.V2ClusterUpdateParams, error) {
	var out wire.V2ClusterUpdateParams
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read the settings of a new cluster: %w", err)
	}
	return out, nil
}

// controlPlaneCount reads the size of the control plane, which the older field
// high_availability_mode tells as well.
func controlPlaneCount(p wire.ClusterCreateParams) (int, error) {
	mode := deref(p.HighAvailabilityMode)
	single := mode == wire.ClusterCreateParamsHighAvailabilityModeNone
	switch {
	case p.ControlPlaneCount == nil && single:
		return 1, nil
	case p.ControlPlaneCount == nil:
		return 3, nil
	case mode != "" && single != (*p.ControlPlaneCount == 1):
		return 0, model.Invalidf("high_availability_mode: require None for one control plane host and Full for more, found %s with %d",
			mode, *p.ControlPlaneCount)
	}
	return *p.ControlPlaneCount, nil
}

func checkControlPlane(c *model.Cluster) error {
	since, known := controlPlanes[c.ControlPlaneCount]
	if !known {
		return model.Invalidf("control_plane_count: require 1 to 5, found %d", c.ControlPlaneCount)
	}
	if since == "" {
		return nil
	}
	version, err := semver.NewVersion(c.OpenShiftVersion)
	if err != nil || version.LessThan(semver.MustParse(since+".0-0")) {
		return model.Invalidf("control_plane_count: require OpenShift %s for %d hosts, found %s", since, c.ControlPlaneCount, c.OpenShiftVersion)
	}
	return nil
}

func checkArchitecture(release support.Release, architecture string) error {
	if architecture == "multi" && len(release.CPUArchitectures) > 1 {
		return nil
	}
	if !slices.Contains(release.CPUArchitectures, release64(architecture)) {
		return model.Invalidf("cpu_architecture: require one of %v for OpenShift %s, found %s",
			release.CPUArchitectures, release.Version, architecture)
	}
	return nil
}

// release64 is the name that lists of releases have for an architecture.
func release64(architecture string) string {
	if architecture == "aarch64" {
		return "arm64"
	}
	return architecture
}

// defaultNetworks gives a cluster the pod and service networks it has not; both address
// families when its other networks have both.
func defaultNetworks(c *model.Cluster) {
	v4, v6 := false, false
	see := func(is4 bool) { v4, v6 = v4 || is4, v6 || !is4 }
	for _, n := range slices.Concat(c.MachineNetworks, c.ServiceNetworks) {
		see(n.Addr().Is4())
	}
	for _, n := range c.ClusterNetworks {
		see(n.CIDR.Addr().Is4())
	}
	for _, v := range c.APIVIPs {
		see(v.IP.Is4())
	}
	if len(c.ClusterNetworks) == 0 {
		c.ClusterNetworks = support.DefaultClusterNetworks(v4 && v6)
		if v6 && !v4 {
			c.ClusterNetworks = support.DefaultClusterNetworks(true)[1:]
		}
	}
	if len(c.ServiceNetworks) == 0 {
		c.ServiceNetworks = support.DefaultServiceNetworks(v4 && v6)
		if v6 && !v4 {
			c.ServiceNetworks = support.DefaultServiceNetworks(true)[1:]
		}
	}
}
