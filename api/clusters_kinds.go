package api

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2ImportCluster takes in a cluster that was not installed here, so that hosts can be
// added to it. What it is made of stays unknown: its control plane counts no hosts, and
// hosts of any architecture may join.
func (s *server) V2ImportCluster(w http.ResponseWriter, r *http.Request) error {
	var params wire.ImportClusterParams
	if err := read(r, &params); err != nil {
		return err
	}
	c, err := s.importedCluster(params)
	if err != nil {
		return err
	}
	return s.register(w, r, c)
}

func (s *server) importedCluster(p wire.ImportClusterParams) (*model.Cluster, error) {
	name := strings.TrimSpace(p.Name)
	switch {
	case name == "":
		return nil, model.Invalidf("name: require a name, found none")
	case p.OpenshiftClusterID == uuid.Nil:
		return nil, model.Invalidf("openshift_cluster_id: require the id of the cluster, found a zero one")
	}
	if err := checkHostOrAddress("api_vip_dnsname", p.APIVipDnsname); err != nil {
		return nil, err
	}
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindAddHostsCluster,
		Name: name, WorkflowStarted: true, Imported: true, OrgSoftTimeouts: true, // no organisation forbids them
		OpenShiftClusterID: &p.OpenshiftClusterID, APIVIPDNSName: p.APIVipDnsname,
		CPUArchitecture: anyArchitecture, Platform: model.Platform{Type: platformBaremetal}, LoadBalancer: clusterManaged,
		DiskEncryption: model.DiskEncryption{EnableOn: encryptionOff, Mode: encryptionTPM},
	}
	version := deref(p.OpenshiftVersion)
	if version == "" {
		return c, nil
	}
	// Its version need not be one that new clusters can be installed with.
	if _, err := parseVersion("openshift_version", version); err != nil {
		return nil, err
	}
	c.OpenShiftVersion = version
	if release, err := s.Releases.Find(version); err == nil {
		c.OpenShiftVersion, c.ReleaseImage = release.Version, release.Image
	}
	return c, nil
}

// V2RegisterDisconnectedCluster defines a cluster that is installed where this service
// is out of reach: nobody watches it from here.
func (s *server) V2RegisterDisconnectedCluster(w http.ResponseWriter, r *http.Request) error {
	var params wire.DisconnectedClusterCreateParams
	if err := read(r, &params); err != nil {
		return err
	}
	c, err := s.disconnectedCluster(params)
	if err != nil {
		return err
	}
	return s.register(w, r, c)
}

func (s *server) disconnectedCluster(p wire.DisconnectedClusterCreateParams) (*model.Cluster, error) {
	if err := checkClusterName(p.Name, platformBaremetal); err != nil {
		return nil, err
	}
	release, err := s.Releases.Find(p.OpenshiftVersion)
	if err != nil {
		return nil, err
	}
	return &model.Cluster{
		ID: uuid.New(), Kind: model.KindDisconnectedCluster, Name: p.Name, WorkflowStarted: true,
		OpenShiftVersion: release.Version, ReleaseImage: release.Image, ControlPlaneCount: minControlPlane,
		CPUArchitecture: "x86_64", Platform: model.Platform{Type: platformBaremetal}, LoadBalancer: clusterManaged,
		DiskEncryption: model.DiskEncryption{EnableOn: encryptionOff, Mode: encryptionTPM},
	}, nil
}

// TransformClusterToAddingHosts opens an installed cluster for more hosts.
func (s *server) TransformClusterToAddingHosts(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	_, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if _, err := lifecycle.ApplyCluster(c, lifecycle.OpenForHosts, lifecycle.ClusterFacts{}, requestRecorder{tx, r}); err != nil {
			return model.Conflictf("cluster %s cannot be opened for more hosts: require status %s, found %s", c.Name, model.ClusterInstalled, c.Status)
		}
		c.APIVIPDNSName = or(c.APIVIPDNSName, "api."+c.Name+"."+c.BaseDNSDomain)
		tx.RefreshCluster(c.ID)
		return nil
	})
	if err != nil {
		return err
	}
	return s.replyCluster(http.StatusAccepted, w, r, id)
}

// TransformClusterToDay2 is the older name of TransformClusterToAddingHosts.
func (s *server) TransformClusterToDay2(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	return s.TransformClusterToAddingHosts(w, r, id)
}

// anyArchitecture is that of clusters whose hosts may have different ones.
const anyArchitecture = "multi"
