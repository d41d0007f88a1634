// Package manifests makes the manifests that the service adds to an installation, and checks the manifests that users add
// (docs/reference/ignition.md, "Rules for manifests").
package manifests

import (
	"fmt"
	"slices"

	"slipway/internal/model"
)

// Folders that manifests are in; the installer reads both.
const (
	FolderManifests = "manifests"
	FolderOpenShift = "openshift"
)

// File is a manifest, or a patch of one.
type File struct {
	Folder  string // FolderManifests or FolderOpenShift
	Name    string
	Content []byte // YAML or JSON
}

// Input is the input of the manifests.
type Input struct {
	Cluster   *model.Cluster
	Hosts     []*model.Host
	InfraEnvs []*model.InfraEnv // of the hosts
	Options   Options
}

// Options are settings of the service, not of a cluster.
type Options struct {
	// SingleNodeDNS makes single nodes resolve the names of their own cluster.
	SingleNodeDNS bool
	// TelemeterURL is where clusters send telemetry; empty: where OpenShift sends it.
	TelemeterURL string
}

// generators make the manifests, each with its reason.
var generators = []struct {
	what string
	why  string
	make func(Input) ([]File, error)
}{
	{"time sources", "nodes must agree on the time, and the sources of the InfraEnv are not in the image", chrony},
	{"disk encryption", "disks are encrypted when they are first used, so the nodes must know it then", diskEncryption},
	{"schedulable masters", "the installer decides by the number of workers alone", schedulableMasters},
	{"single-node DNS", "a single node without DNS records resolves its own names", singleNodeDNS},
	{
		"single-node address",
		"a single node bootstraps itself, so its own config comes from the cluster and not from the service",
		singleNodeAddress,
	},
	{"iSCSI interfaces", "they are up before the scripts of NetworkManager that the cluster needs", iscsiInterfaces},
	{"telemetry", "clusters of a test deployment must not count as real ones", telemetry},
	{"operators", "operators are installed by objects in the new cluster", operatorObjects},
}

// Generate makes the manifests of a cluster, by folder and name. A setting of the
// cluster that cannot be used is a model.ErrInvalid.
func Generate(in Input) ([]File, error) {
	var all []File
	for _, g := range generators {
		files, err := g.make(in)
		if err != nil {
			return nil, fmt.Errorf("make manifests for %s: %w", g.what, err)
		}
		all = append(all, files...)
	}
	slices.SortFunc(all, func(a, b File) int { return slices.Compare([]string{a.Folder, a.Name}, []string{b.Folder, b.Name}) })
	return all, nil
}

// roles lists the roles that a cluster configures nodes for: masters and workers always, because workers can come later; arbiters if
// the cluster has one.
func (in Input) roles() []model.Role {
	roles := []model.Role{model.RoleMaster, model.RoleWorker}
	if slices.ContainsFunc(in.Hosts, func(h *model.Host) bool { return h.EffectiveRole() == model.RoleArbiter }) {
		roles = append(roles, model.RoleArbiter)
	}
	return roles
}

// ofRole returns the hosts of a role.
func (in Input) ofRole(role model.Role) []*model.Host {
	var found []*model.Host
	for _, h := range in.Hosts {
		if h.EffectiveRole() == role {
			found = append(found, h)
		}
	}
	return found
}
