// Package definition holds the rules for objects that users define: clusters and InfraEnvs. A rule reads a client's request and the
// present definition, and changes the definition or returns a model.ErrInvalid that names the field, what is required and what was
// found. There is no HTTP and no database here.
package definition

import (
	"encoding/json"
	"fmt"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Offer lists what a deployment can install.
type Offer struct {
	Releases         *openshift.Catalogue
	AnyReleaseImage  bool     // users may name release images that are not in Releases
	PublicRegistries []string // registries that need no entry in a pull secret; empty: none is checked
	// Mirrors returns the names of an image at its mirrors; nil: images have no mirrors.
	Mirrors func(image string) []string
}

// Change applies the settings of a client to a cluster and checks the result as a whole. It reports whether a setting
// changed that steps of hosts depend on. An error may leave c changed in part.
func (o Offer) Change(c *model.Cluster, p wire.V2ClusterUpdateParams, around Surroundings) (hostsAffected bool, err error) {
	before := fingerprint(c)
	if err := requireJoiningOnly(c, p); err != nil {
		return false, err
	}
	if p.PullSecret != nil {
		if err := CheckPullSecret(*p.PullSecret, o.privatePlaces(c.ReleaseImage)...); err != nil {
			return false, err
		}
		c.PullSecret = model.Secret(*p.PullSecret)
	}
	if err := applySettings(c, p); err != nil {
		return false, err
	}
	if !c.DayTwo() {
		if err := check(c, around); err != nil {
			return false, err
		}
		if err := checkAmong(c, p, around.Hosts); err != nil {
			return false, err
		}
	}
	return fingerprint(c) != before, nil
}

// New returns a cluster with the settings of a client and defaults for all others (docs/reference/wire.md, "Defaults of
// a cluster"). Its id is for the caller to choose.
func (o Offer) New(p wire.ClusterCreateParams) (*model.Cluster, error) {
	release, architecture, err := o.Releases.Choose(openshift.Wish{
		Version: p.OpenshiftVersion, Architecture: string(deref(p.CPUArchitecture)),
		Image: deref(p.OcpReleaseImage), AnyImage: o.AnyReleaseImage,
	})
	if err != nil {
		return nil, err
	}
	c := &model.Cluster{
		Kind: model.KindCluster, WorkflowStarted: true,
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
	if c.ControlPlaneCount == 1 {
		sent.APIVips, sent.IngressVips = nil, nil // scripts send them for every cluster, and a single node has none
	}
	if err := applySettings(c, sent); err != nil {
		return nil, err
	}
	if err := inOrder(c); err != nil {
		return nil, err
	}
	defaultNetworks(c)
	if p.NetworkType == nil {
		c.NetworkType = defaultNetworkType(c)
	}
	if err := check(c, Surroundings{}); err != nil {
		return nil, err
	}
	return c, CheckPullSecret(p.PullSecret, o.privatePlaces(c.ReleaseImage)...)
}

// asUpdate returns the fields that registration and update have in common.
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

// controlPlaneCount returns the size of the control plane, from control_plane_count or the older
// high_availability_mode.
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

// ReleaseArchitecture returns the name of an architecture in lists of releases.
func ReleaseArchitecture(architecture string) string {
	if architecture == "aarch64" {
		return "arm64"
	}
	return architecture
}
