// Package installconfig writes the install-config that the OpenShift installer reads, from a cluster and its
// hosts (docs/reference/ignition.md, "Install-config").
package installconfig

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
)

// Build writes the install-config of a cluster with the hosts that will be its nodes. The cluster's override is
// merged over it. It returns a model.ErrUnprocessable when a required value is missing, and a model.ErrInvalid
// for a fault of the override, or when another program installs the cluster.
func Build(cluster *model.Cluster, hosts []*model.Host, opts Options) (*InstallConfig, error) {
	switch {
	case cluster.Kind == model.KindDisconnectedCluster:
		return nil, model.Invalidf("cluster %s is installed by its disconnected image, which makes the install-config", cluster.Name)
	case cluster.Imported:
		return nil, model.Invalidf("cluster %s only adds hosts to a cluster that exists already, which has no install-config here", cluster.Name)
	}
	b, err := newBuilder(cluster, hosts)
	if err != nil {
		return nil, err
	}
	b.opts = opts
	if err := b.checkArbiter(); err != nil {
		return nil, err
	}
	platform, err := b.platform()
	if err != nil {
		return nil, err
	}
	cfg := &InstallConfig{
		APIVersion: "v1",
		BaseDomain: cluster.BaseDNSDomain,
		Proxy:      b.proxy(),
		Networking: b.networking(),
		Metadata:   Metadata{Name: cluster.Name},
		Compute:    []MachinePool{b.pool(model.RoleWorker, "workers")},
		Platform:   platform,
		PullSecret: cluster.PullSecret.Reveal(),
		SSHKey:     cluster.SSHKeys(),
	}
	b.setControlPlane(cfg)
	if cluster.SingleNode() {
		cfg.BootstrapInPlace = b.bootstrapInPlace()
	}
	b.setMirrors(cfg, opts.Mirrors)
	overridden := strings.TrimSpace(cluster.InstallConfigOverride) != ""
	if overridden {
		if err := cfg.override(cluster.InstallConfigOverride); err != nil {
			return nil, err
		}
	}
	// After the override: its own certificates must not displace certificates of mirrors and proxies.
	cfg.AdditionalTrustBundle = mergeBundles(append([]string{cfg.AdditionalTrustBundle}, opts.TrustBundles...))
	if !overridden {
		return cfg, nil
	}
	if err := cfg.check(cluster); err != nil {
		return nil, err
	}
	if err := b.checkAddresses(cfg); err != nil {
		return nil, err
	}
	return cfg, b.checkFIPS(cfg)
}

// JSON returns the install-config as the API serves it; YAML readers accept it too.
func (c *InstallConfig) JSON() ([]byte, error) { return json.Marshal(c) }

// YAML returns the install-config as the installer's documentation writes it.
func (c *InstallConfig) YAML() ([]byte, error) { return yaml.Marshal(c) }

// LogValue keeps the secrets of an install-config out of logs.
func (c *InstallConfig) LogValue() slog.Value {
	return slog.StringValue("install-config of " + c.Metadata.Name)
}

// String keeps the secrets of an install-config out of error texts.
func (c *InstallConfig) String() string { return c.LogValue().String() }

// builder holds the input of an install-config.
type builder struct {
	cluster         *model.Cluster
	hosts           []*model.Host
	opts            Options
	version         *semver.Version
	machineNetworks []netip.Prefix
}

func newBuilder(cluster *model.Cluster, hosts []*model.Host) (*builder, error) {
	version, err := semver.NewVersion(cluster.OpenShiftVersion)
	if err != nil {
		return nil, model.Unprocessablef("require an OpenShift version like 4.20.1, found %q", cluster.OpenShiftVersion)
	}
	stated := *cluster.Effective() // the exceptions of the proxy name the networks of the override
	stated.Proxy = cluster.Proxy   // the override's is laid over it, without exceptions that its user did not write
	networks := nodeaddress.Of(&stated, hosts).MachineNetworks
	return &builder{cluster: &stated, hosts: hosts, version: version, machineNetworks: networks}, nil
}

func (b *builder) atLeast(minor string) bool { return atLeast(b.version, minor) }

// atLeast ignores the patch number and what follows it: 4.18.0-rc.1 has the features of 4.18.
func atLeast(version *semver.Version, minor string) bool {
	v := semver.MustParse(minor)
	return version.Major() > v.Major() || (version.Major() == v.Major() && version.Minor() >= v.Minor())
}

func (b *builder) count(role model.Role) int {
	n := 0
	for _, h := range b.hosts {
		if h.EffectiveRole() == role {
			n++
		}
	}
	return n
}

// pool returns the machine pool of a role; group is its name in the cluster's hyperthreading setting.
func (b *builder) pool(role model.Role, group string) MachinePool {
	p := MachinePool{Name: string(role), Replicas: b.count(role), Hyperthreading: "Enabled"}
	switch setting := b.cluster.Hyperthreading; {
	case setting == "" || setting == "all":
	case !slices.Contains(strings.Split(setting, ","), group):
		p.Hyperthreading = "Disabled"
	}
	return p
}

func (b *builder) bootstrapInPlace() *BootstrapInPlace {
	for _, h := range b.hosts {
		if h.EffectiveRole() == model.RoleMaster {
			// The name of the kernel may be another disk's after a reboot.
			return &BootstrapInPlace{InstallationDisk: cmp.Or(h.InstallationDiskID, h.InstallationDiskPath)}
		}
	}
	return nil
}
