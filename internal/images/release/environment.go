package release

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
)

// SkipHostCheck is the variable that lets the installer of a cluster in FIPS mode run on a machine without
// (openshift/installer, pkg/types/validation/installconfig.go).
const SkipHostCheck = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION"

// ownVariables lists the variables that the service sets for every cluster.
var ownVariables = []string{
	"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE", "OPENSHIFT_INSTALL_INVOKER", "OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP", "HOME", "TMPDIR",
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckEnvironment returns an error when an entry of Options.Environment is not KEY=value, or sets what the service
// sets itself. The error never contains a value.
func CheckEnvironment(environment []string) error {
	for _, entry := range environment {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || !variableName.MatchString(name) {
			return model.Invalidf("the installer's environment: each entry must be KEY=VALUE")
		}
		if slices.Contains(ownVariables, name) {
			return model.Invalidf("the installer's environment: the service itself sets %s", name)
		}
	}
	return nil
}

// SkipsHostCheck reports whether the installer of a cluster in FIPS mode runs on any machine.
func SkipsHostCheck(environment []string) bool {
	skips := false
	for _, entry := range environment {
		if value, ok := strings.CutPrefix(entry, SkipHostCheck+"="); ok {
			skips = value != ""
		}
	}
	return skips
}

// HostFIPS reports whether a machine is in FIPS mode, by the file in which its kernel says so:
// /proc/sys/crypto/fips_enabled. A kernel without the file is not.
func HostFIPS(file string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(data)) == "1"
}
