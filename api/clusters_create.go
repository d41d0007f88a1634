package api

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// newCluster makes a cluster of what a client sent and the defaults of everything else
// (docs/reference/wire.md, "Defaults of a cluster").
func (s *server) newCluster(p wire.ClusterCreateParams) (*model.Cluster, error) {
	release, architecture, err := s.Releases.Choose(openshift.Wish{
		Version: p.OpenshiftVersion, Architecture: string(deref(p.CPUArchitecture)),
		Image: deref(p.OcpReleaseImage), AnyImage: s.AnyReleaseImage,
	})
	if err != nil {
		return nil, err
	}
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, WorkflowStarted: true,
		OrgSoftTimeouts:  true, // no organisation forbids them
		PullSecret:       model.Secret(p.PullSecret),
		OpenShiftVersion: release.Version, ReleaseImage: release.Image,
		CPUArchitecture: architecture, Platform: model.Platform{Type: platformBaremetal}, LoadBalancer: clusterManaged,
		NetworkType: openshift.DefaultNetworkType, MachineNetworksAuto: true, Hyperthreading: "all",
		DiskEncryption: model.DiskEncryption{EnableOn: encryptionOff, Mode: encryptionTPM},
	}
	if c.ControlPlaneCount, err = controlPlaneCount(p); err != nil {
		return nil, err
	}
	sent, err := asUpdate(p)
	if err != nil {
		return nil, err
	}
	if err := applySettings(c, sent); err != nil {
		return nil, err
	}
	defaultNetworks(c)
	if err := checkDefinition(c, surroundings{}); err != nil {
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

// release64 is the name that lists of releases have for an architecture.
func release64(architecture string) string {
	if architecture == "aarch64" {
		return "arm64"
	}
	return architecture
}
