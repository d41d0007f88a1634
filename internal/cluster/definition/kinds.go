package definition

import (
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// anyArchitecture is the architecture of a cluster whose hosts may have different ones.
const anyArchitecture = "multi"

// Imported returns a cluster that another service installed. Its control plane counts no hosts, and hosts of any
// architecture may join it. An API address "api.NAME.DOMAIN" has the name and domain that checks of DNS records need, and
// its name counts more than the one in the request, to which clients add prefixes.
func Imported(p wire.ImportClusterParams, releases *openshift.Catalogue) (*model.Cluster, error) {
	name := strings.TrimSpace(p.Name)
	switch {
	case name == "":
		return nil, model.Invalidf("name is required")
	case p.OpenshiftClusterID == uuid.Nil:
		return nil, model.Invalidf("openshift_cluster_id: must not be zero")
	}
	api, err := parseHostOrAddress("api_vip_dnsname", p.APIVipDnsname)
	if err != nil {
		return nil, err
	}
	name, domain := nameAndDomain(name, api)
	c := &model.Cluster{
		Kind: model.KindAddHostsCluster,
		Name: name, BaseDNSDomain: domain, WorkflowStarted: true, Imported: true, OrgSoftTimeouts: true, // no organisation forbids them
		OpenShiftClusterID: &p.OpenshiftClusterID, APIVIPDNSName: api,
		CPUArchitecture: anyArchitecture, Platform: model.Platform{Type: platformBaremetal}, LoadBalancer: clusterManaged,
		DiskEncryption: model.DiskEncryption{EnableOn: encryptionOff, Mode: encryptionTPM},
	}
	version := deref(p.OpenshiftVersion)
	if version == "" {
		return c, nil
	}
	// Its version need not be available for new clusters.
	if _, err := parseVersion("openshift_version", version); err != nil {
		return nil, err
	}
	c.OpenShiftVersion = version
	if release, err := releases.Find(version); err == nil {
		c.OpenShiftVersion, c.ReleaseImage = release.Version, release.Image
	}
	return c, nil
}

// nameAndDomain returns the name and base domain in the DNS name of an API server; in others there is neither.
func nameAndDomain(name, api string) (string, string) {
	if parts := strings.SplitN(api, ".", 3); len(parts) == 3 && parts[0] == "api" && parts[1] != "" && parts[2] != "" {
		return parts[1], parts[2]
	}
	return name, ""
}

// Disconnected returns a cluster whose installation this service does not observe.
func Disconnected(p wire.DisconnectedClusterCreateParams, releases *openshift.Catalogue) (*model.Cluster, error) {
	if err := checkClusterName(p.Name, platformBaremetal); err != nil {
		return nil, err
	}
	release, err := releases.Find(p.OpenshiftVersion)
	if err != nil {
		return nil, err
	}
	return &model.Cluster{
		Kind: model.KindDisconnectedCluster, Name: p.Name, WorkflowStarted: true,
		OpenShiftVersion: release.Version, ReleaseImage: release.Image, ControlPlaneCount: minControlPlane,
		CPUArchitecture: "x86_64", Platform: model.Platform{Type: platformBaremetal}, LoadBalancer: clusterManaged,
		DiskEncryption: model.DiskEncryption{EnableOn: encryptionOff, Mode: encryptionTPM},
	}, nil
}
