package installconfig

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/access"
	"slipway/internal/cluster/pullsecret"
	"slipway/internal/model"
)

// check returns an error when an install-config that a user changed is not accepted by the installer, or does
// not describe this cluster any more.
func (c *InstallConfig) check(cluster *model.Cluster) error {
	for _, check := range []func(*InstallConfig, *model.Cluster) error{
		(*InstallConfig).checkIdentity, (*InstallConfig).checkPools, (*InstallConfig).checkChoices, (*InstallConfig).checkNetworks,
		(*InstallConfig).checkSecrets, (*InstallConfig).checkCapabilities, (*InstallConfig).checkAccess, (*InstallConfig).checkPlatform,
		(*InstallConfig).checkGates, (*InstallConfig).checkPoolNames, (*InstallConfig).checkOVN, (*InstallConfig).checkMirrorNames,
	} {
		if err := check(c, cluster); err != nil {
			return err
		}
	}
	return nil
}

func misfit(field, format string, args ...any) error {
	return model.Invalidf("install_config_overrides: "+field+": "+format, args...)
}

// checkIdentity keeps the values that names, certificates and checks of the service are made with.
func (c *InstallConfig) checkIdentity(cluster *model.Cluster) error {
	for _, f := range []struct{ field, found, want string }{
		{"apiVersion", c.APIVersion, "v1"},
		{"metadata.name", c.Metadata.Name, cluster.Name},
		{"baseDomain", c.BaseDomain, cluster.BaseDNSDomain},
	} {
		if f.found != f.want {
			return misfit(f.field, "require %q, found %q", f.want, f.found)
		}
	}
	platforms := 0
	for _, set := range []bool{
		c.Platform.BareMetal != nil, c.Platform.None != nil, c.Platform.VSphere != nil, c.Platform.Nutanix != nil,
		c.Platform.External != nil,
	} {
		if set {
			platforms++
		}
	}
	if platforms != 1 {
		return misfit("platform", "require one platform, found %d", platforms)
	}
	return nil
}

// checkPools keeps the control plane as large as the cluster was defined: the bootstrap
// waits for that many. Workers may come later.
func (c *InstallConfig) checkPools(cluster *model.Cluster) error {
	if c.ControlPlane == nil {
		return misfit("controlPlane", "the pool of the control plane is required")
	}
	for _, p := range c.Compute {
		if p.Replicas < 0 {
			return misfit("compute.replicas", "require 0 or more, found %d", p.Replicas)
		}
	}
	if len(c.Compute) == 0 {
		return misfit("compute", "the pool of the workers is required")
	}
	if n := c.ControlPlane.Replicas; n < 0 || n > 0 && cluster.ControlPlaneCount > 0 && n > cluster.ControlPlaneCount {
		return misfit("controlPlane.replicas", "require at most the %d of the cluster, found %d", cluster.ControlPlaneCount, n)
	}
	return nil
}

// checkChoices compares fields with the values that the installer supports.
func (c *InstallConfig) checkChoices(*model.Cluster) error {
	choices := []struct {
		field, found string
		known        []string
	}{
		{"cpuPartitioningMode", c.CPUPartitioningMode, []string{"", "None", "AllNodes"}},
		{"additionalTrustBundlePolicy", c.AdditionalTrustBundlePolicy, []string{"", "Proxyonly", "Always"}},
		{"featureSet", c.FeatureSet, []string{"", previewFeatures, "DevPreviewNoUpgrade", customFeatures, "LatencySensitive", "OKD"}},
		{"controlPlane.hyperthreading", c.ControlPlane.Hyperthreading, []string{"", "Enabled", "Disabled"}},
	}
	for _, choice := range choices {
		if !slices.Contains(choice.known, choice.found) {
			return misfit(choice.field, "require one of %s, found %q", strings.Join(choice.known[1:], ", "), choice.found)
		}
	}
	return nil
}

func (c *InstallConfig) checkNetworks(*model.Cluster) error {
	cidrs := map[string][]string{"networking.serviceNetwork": c.Networking.ServiceNetwork}
	for _, n := range c.Networking.ClusterNetwork {
		cidrs["networking.clusterNetwork"] = append(cidrs["networking.clusterNetwork"], n.CIDR)
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && (n.HostPrefix < p.Bits() || n.HostPrefix > p.Addr().BitLen()) {
			return misfit(
				"networking.clusterNetwork",
				"require a hostPrefix between %d and %d, found %d",
				p.Bits(),
				p.Addr().BitLen(),
				n.HostPrefix,
			)
		}
	}
	for _, n := range c.Networking.MachineNetwork {
		cidrs["networking.machineNetwork"] = append(cidrs["networking.machineNetwork"], n.CIDR)
	}
	for _, field := range []string{"networking.clusterNetwork", "networking.machineNetwork", "networking.serviceNetwork"} {
		for _, cidr := range cidrs[field] {
			if p, err := netip.ParsePrefix(cidr); err != nil || p.Masked() != p {
				return misfit(field, "require a network such as 10.128.0.0/14, found %q", cidr)
			}
		}
	}
	return nil
}

// checkSecrets checks values that only the override can have changed.
func (c *InstallConfig) checkSecrets(cluster *model.Cluster) error {
	if c.PullSecret != cluster.PullSecret.Reveal() {
		if _, err := pullsecret.Check(c.PullSecret); err != nil {
			return misfit("pullSecret", "%s", err)
		}
	}
	var given InstallConfig
	if err := given.override(cluster.InstallConfigOverride); err != nil {
		return err
	}
	if err := access.CheckCertificates(given.AdditionalTrustBundle); err != nil {
		return misfit("additionalTrustBundle", "%s", err)
	}
	return nil
}

// checkFIPS returns an error where the installer would refuse a cluster in FIPS mode: since 4.16 it wants to make
// the keys of such a cluster with validated modules (openshift/installer, pkg/hostcrypt).
func (b *builder) checkFIPS(cfg *InstallConfig) error {
	if !cfg.FIPS {
		return nil
	}
	if b.opts.NoFIPS && b.atLeast("4.16") {
		return misfit("fips", "a service that runs on RHEL 9 in FIPS mode is required, or OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true "+
			"in INSTALLER_ENVIRONMENT")
	}
	for _, key := range strings.Split(cfg.SSHKey, "\n") {
		kind, _, _ := strings.Cut(strings.TrimSpace(key), " ")
		if kind != "" && !strings.HasPrefix(kind, "#") && kind != "ssh-rsa" && !strings.HasPrefix(kind, "ecdsa-sha2-nistp") {
			return misfit("fips", "require an SSH key of type rsa or ecdsa, found %s", kind)
		}
	}
	return nil
}
