package staticnet

import (
	"regexp"

	"github.com/Masterminds/semver/v3"
)

// Method is how a host applies its settings.
type Method string

// The methods. Hosts of either get the same settings, checked in the same way.
const (
	MethodKeyfiles Method = "keyfiles" // made here, copied by the host
	MethodNMState  Method = "nmstate"  // the YAML, converted to keyfiles by the host's nmstatectl
)

// firstWithNMState is the first version whose live system has nmstatectl for it
// (docs/reference/images.md, "Static networks from 4.18 on").
var firstWithNMState = semver.MustParse("4.18.0-ec.0")

// architecture ends the versions of releases for one.
var architecture = regexp.MustCompile(`-(x86_64|aarch64|ppc64le|s390x|multi)$`)

// MethodFor returns the method of an OpenShift version such as 4.18, 4.18.3-rc.1 or 4.18.3-x86_64. An empty
// version is the newest, which applies NMState; an invalid one gets keyfiles, which every system understands.
func MethodFor(openShiftVersion string) Method {
	if openShiftVersion == "" {
		return MethodNMState
	}
	version, err := semver.NewVersion(architecture.ReplaceAllString(openShiftVersion, ""))
	if err != nil || version.LessThan(firstWithNMState) {
		return MethodKeyfiles
	}
	return MethodNMState
}
