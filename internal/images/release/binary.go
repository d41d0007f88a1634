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

// artifactArchitectures are those that the image installer-artifacts has programs for; every release has it.
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
	if n.Platform == "baremetal" && before(info.Version, 4, 16) {
		// The plain installer of these releases does not support bare metal.
		if info.Architecture != own {
			return binary{}, model.Unprocessablef("release %s for linux/%s: bare metal before OpenShift 4.16 requires the image baremetal-installer, "+
				"whose program is for linux/%[2]s only; this service runs on linux/%s", info.Version, info.Architecture, own)
		}
		return bareMetalInstaller, nil
	}
	if info.Architecture == own {
		return plainInstaller, nil
	}
	if !slices.Contains(artifactArchitectures, own) {
		return binary{}, model.Unprocessablef("release %s for linux/%s: require a service on linux/amd64, linux/arm64 or the architecture "+
			"of the release, found one on linux/%s, which the release has no openshift-install for", info.Version, info.Architecture, own)
	}
	return artifact(own), nil
}

// before returns whether a version is of an earlier minor release; what is no version is not.
func before(version string, major, minor uint64) bool {
	v, err := semver.NewVersion(version)
	return err == nil && (v.Major() < major || v.Major() == major && v.Minor() < minor)
}
