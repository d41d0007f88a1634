package service

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"slipway/internal/app/settings"
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/images/release"
	"slipway/internal/platform/userids"
)

// deployment holds the settings in the form the parts of the service need.
type deployment struct {
	discovery     ignition.Deployment
	installConfig installconfig.Options
	manifests     manifests.Options
	releases      release.Options // what the settings of a deployment say of it
	installerIDs  *userids.Range  // one for each run of an installer; nil: all run as releases.User
}

// fipsFile is where the kernel says whether its machine is in FIPS mode.
const fipsFile = "/proc/sys/crypto/fips_enabled"

// readDeployment reads the settings; fipsFile is the machine's.
func readDeployment(o settings.Deployment, fipsFile string) (out deployment, err error) {
	if err := release.CheckEnvironment(o.InstallerEnvironment); err != nil {
		return out, fmt.Errorf("read INSTALLER_ENVIRONMENT: %w", err)
	}
	out.releases = release.Options{Environment: o.InstallerEnvironment, HostFIPS: release.HostFIPS(fipsFile)}
	if strings.Contains(o.InstallerUser, "-") {
		ids, err := userids.Parse(o.InstallerUser)
		if err != nil {
			return out, fmt.Errorf("read INSTALLER_USER: %w", err)
		}
		out.installerIDs = &ids
	} else if out.releases.User, err = release.ParseUser(o.InstallerUser); err != nil {
		return out, fmt.Errorf("read INSTALLER_USER: %w", err)
	}
	if out.releases.Sandbox, err = release.ParseSandbox(cmp.Or(o.InstallerSandbox, "off")); err != nil {
		return out, fmt.Errorf("read INSTALLER_SANDBOX: %w", err)
	}
	out.releases.Readable = o.InstallerPaths
	if out.releases.Signatures, err = readSignatures(o); err != nil {
		return out, err
	}
	out.installConfig.NoFIPS = !out.releases.HostFIPS && !release.SkipsHostCheck(o.InstallerEnvironment)
	out.manifests = manifests.Options{SingleNodeDNS: o.SingleNodeDNS, TelemeterURL: o.TelemeterURL}
	out.discovery = ignition.Deployment{InsecurePolicy: o.InsecurePolicy, OKDPackages: o.OKDPackages}
	if out.discovery.Mirror.RegistriesConf, err = readFile(o.MirrorRegistries); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_REGISTRIES: %w", err)
	}
	if out.installConfig.Mirrors, err = installconfig.ParseMirrors(out.discovery.Mirror.RegistriesConf); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_REGISTRIES: %w", err)
	}
	if out.releases.Mirrors, err = release.ParseMirrors(out.discovery.Mirror.RegistriesConf); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_REGISTRIES: %w", err)
	}
	if out.discovery.Mirror.CA, err = readCertificates(o.MirrorCA); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_CA: %w", err)
	}
	if out.discovery.RootCA, err = readCertificates(o.RootCA); err != nil {
		return out, fmt.Errorf("read SLIPWAY_ROOT_CA: %w", err)
	}
	for _, bundle := range []string{out.discovery.RootCA, out.discovery.Mirror.CA} {
		if bundle != "" {
			out.installConfig.TrustBundles = append(out.installConfig.TrustBundles, bundle)
			out.releases.TrustBundles = append(out.releases.TrustBundles, bundle)
		}
	}
	return out, nil
}

// readFile reads the text of a file; empty when none is named.
func readFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

func readCertificates(path string) (string, error) {
	text, err := readFile(path)
	if err != nil || text == "" {
		return "", err
	}
	if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != "CERTIFICATE" {
		return "", fmt.Errorf("no PEM certificate found in %s", path)
	}
	return text, nil
}

// rules returns the settings of validations.
func (s *Service) rules() *validation.Options {
	out := validation.DefaultOptions()
	out.SingleNodeDNS = s.options.SingleNodeDNS
	out.EdgeProducts = s.variables.EdgeProducts
	out.Operators = operators.Options{NVIDIARequireGPU: s.options.NVIDIARequireGPU, AMDRequireGPU: s.options.AMDRequireGPU}
	out.DisabledHost, out.DisabledCluster = s.variables.DisabledHost, s.variables.DisabledCluster
	return &out
}
