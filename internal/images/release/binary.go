package release

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// Need says which installer is wanted.
type Need struct {
	Image      string // of the release
	Platform   string // of the cluster: baremetal, none, ...
	Version    string // of the cluster; the release must be of the same minor version. Empty: any
	FIPS       bool   // the cluster is in FIPS mode
	PullSecret model.Secret
}

// binary is one of the programs a release generates configs with.
type binary struct {
	component string // image that holds it
	path      string // in the image
	cached    string // name in the cache, after the digest of the image
}

// Programs of a release, by the paths that oc extracts them from (openshift/oc,
// pkg/cli/admin/release/extract_tools.go). The first two images are of the release's own architecture.
var (
	plainInstaller     = binary{"installer", "usr/bin/openshift-install", "openshift-install"}
	bareMetalInstaller = binary{"baremetal-installer", "usr/bin/openshift-install", "openshift-baremetal-install"}
)

// artifactArchitectures lists the architectures of the programs in the image installer-artifacts, which every release has.
var artifactArchitectures = []string{"amd64", "arm64"}

func artifact(architecture string) binary {
	return binary{
		"installer-artifacts", "usr/share/openshift/linux_" + architecture + "/openshift-install",
		"linux_" + architecture + "-openshift-install",
	}
}

// choose returns the program of a release that suits a cluster and runs on this machine.
func (r *Releases) choose(info Info, n Need) (binary, error) {
	own := r.opts.Architecture
	dynamic := ""
	switch {
	case n.Platform == "baremetal" && before(info.Version, 4, 16):
		dynamic = "bare metal before OpenShift 4.16" // the plain installer of these releases does not support it
	case n.FIPS && r.opts.HostFIPS:
		dynamic = "FIPS mode" // the plain installer has no validated modules
	}
	if dynamic != "" {
		if info.Architecture != own {
			return binary{}, model.Unprocessablef("release %s for linux/%s: %s requires the image baremetal-installer, "+
				"whose program is for linux/%[2]s only; this service runs on linux/%[4]s", info.Version, info.Architecture, dynamic, own)
		}
		return bareMetalInstaller, nil
	}
	if info.Architecture == own {
		return plainInstaller, nil
	}
	if !slices.Contains(artifactArchitectures, own) {
		return binary{}, model.Unprocessablef("release %s for linux/%s: require a service on linux/amd64, linux/arm64 or the architecture "+
			"of the release: the release has no openshift-install for linux/%s", info.Version, info.Architecture, own)
	}
	return artifact(own), nil
}

// checkVersion refuses a release of another minor version than the cluster: its install-config is written for the
// cluster's.
func checkVersion(info Info, n Need) error {
	want, err := semver.NewVersion(n.Version)
	if n.Version == "" || err != nil {
		return nil //nolint:nilerr // the cluster names no version to compare with
	}
	found, err := semver.NewVersion(info.Version)
	if err != nil || found.Major() != want.Major() || found.Minor() != want.Minor() {
		return model.Unprocessablef("require a release of OpenShift %d.%d, as the cluster's version %s, found %s in %s",
			want.Major(), want.Minor(), n.Version, info.Version, n.Image)
	}
	return nil
}

// before reports whether a version is of an earlier minor release; an invalid version is not.
func before(version string, major, minor uint64) bool {
	v, err := semver.NewVersion(version)
	return err == nil && (v.Major() < major || v.Major() == major && v.Minor() < minor)
}
