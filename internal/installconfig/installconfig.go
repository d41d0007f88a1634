// Package installconfig writes the install-config that the OpenShift installer reads,
// out of a cluster and its hosts (contract/ignition.md, 5c).
package installconfig

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Options are settings that belong to the service, not to the cluster.
type Options struct {
	// TrustBundles are certificates in PEM that nodes trust besides the public ones;
	// each certificate is written once.
	TrustBundles []string
	// Mirrors tell where registries are mirrored.
	Mirrors []ImageSource
}

// Build writes the install-config of a cluster with the hosts that will be its nodes.
// The cluster's override is laid over it. It returns a model.ErrUnprocessable when
// something needed is missing, and a model.ErrInvalid for a fault of the override.
func Build(cluster *model.Cluster, hosts []*model.Host, opts Options) (*InstallConfig, error) {
	b, err := newBuilder(cluster, hosts)
	if err != nil {
		return nil, err
	}
	platform, err := b.platform()
	if err != nil {
		return nil, err
	}
	cfg := &InstallConfig{
		APIVersion:            "v1",
		BaseDomain:            cluster.BaseDNSDomain,
		Proxy:                 b.proxy(),
		Networking:            b.networking(),
		Metadata:              Metadata{Name: cluster.Name},
		Compute:               []MachinePool{b.pool(model.RoleWorker, "workers")},
		Platform:              platform,
		PullSecret:            cluster.PullSecret.Reveal(),
		SSHKey:                cluster.SSHPublicKey,
		AdditionalTrustBundle: mergeBundles(opts.TrustBundles),
	}
	masters := b.pool(model.RoleMaster, "masters")
	cfg.ControlPlane = &masters
	if arbiters := b.pool(model.RoleArbiter, "arbiters"); arbiters.Replicas > 0 {
		cfg.Arbiter = &arbiters
		if !b.atLeast("4.20") { // 4.19 has them as a preview only
			cfg.FeatureSet = "TechPreviewNoUpgrade"
		}
	}
	if cluster.SingleNode() {
		cfg.BootstrapInPlace = b.bootstrapInPlace()
	}
	b.setMirrors(cfg, opts.Mirrors)
	if err := cfg.override(cluster.InstallConfigOverride); err != nil {
		return nil, err
	}
	return cfg, nil
}

// JSON is the install-config as the API answers it; YAML readers take it too.
func (c *InstallConfig) JSON() ([]byte, error) { return json.Marshal(c) }

// YAML is the install-config as the installer's documentation writes it.
func (c *InstallConfig) YAML() ([]byte, error) { return yaml.Marshal(c) }

// LogValue keeps the secrets of an install-config out of logs.
func (c *InstallConfig) LogValue() slog.Value {
	return slog.StringValue("install-config of " + c.Metadata.Name)
}

// String keeps the secrets of an install-config out of error texts.
func (c *InstallConfig) String() string { return c.LogValue().String() }

// builder holds what the parts of an install-config are made of.
type builder struct {
	cluster         *model.Cluster
	hosts           []*model.Host
	version         *semver.Version
	machineNetworks []netip.Prefix
}

func newBuilder(cluster *model.Cluster, hosts []*model.Host) (*builder, error) {
	version, err := semver.NewVersion(cluster.OpenShiftVersion)
	if err != nil {
		return nil, model.Unprocessablef("require an OpenShift version like 4.20.1, found %q", cluster.OpenShiftVersion)
	}
	b := &builder{cluster: cluster, hosts: hosts, version: version, machineNetworks: cluster.MachineNetworks}
	if len(b.machineNetworks) == 0 && cluster.Platform.Type != "baremetal" {
		b.machineNetworks = defaultRouteNetworks(hosts)
	}
	return b, nil
}

// atLeast compares without what follows the patch number: 4.18.0-rc.1 has what 4.18 has.
func (b *builder) atLeast(version string) bool {
	v := semver.MustParse(version)
	return b.version.Major() > v.Major() || (b.version.Major() == v.Major() && b.version.Minor() >= v.Minor())
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

// pool is the group of a role; group is its name in the cluster's hyperthreading setting.
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
			return &BootstrapInPlace{InstallationDisk: h.InstallationDiskPath}
		}
	}
	return nil
}

func (b *builder) setMirrors(cfg *InstallConfig, mirrors []ImageSource) {
	if !b.atLeast("4.14") {
		cfg.ImageContentSources = mirrors
		return
	}
	for _, m := range mirrors {
		cfg.ImageDigestSources = append(cfg.ImageDigestSources, ImageDigestSource{Mirrors: m.Mirrors, Source: m.Source})
	}
}

// mergeBundles joins certificates and drops those that were there before.
func mergeBundles(bundles []string) string {
	const end = "-----END CERTIFICATE-----"
	var merged []string
	for _, bundle := range bundles {
		for part := range strings.SplitSeq(bundle, end) {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(merged, part) {
				merged = append(merged, part)
			}
		}
	}
	if len(merged) == 0 {
		return ""
	}
	return strings.Join(merged, "\n"+end+"\n") + "\n" + end + "\n"
}

func inNetwork(nic wire.Interface, network netip.Prefix) bool {
	for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
		if p, err := netip.ParsePrefix(cidr); err == nil && network.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

// override lays a user's JSON object over the install-config: objects are merged, lists
// element by element. Fields that the install-config does not have are refused.
func (c *InstallConfig) override(overrides string) error {
	if strings.TrimSpace(overrides) == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(overrides))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return model.Invalidf("install_config_overrides: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return model.Invalidf("install_config_overrides: require one JSON object, found more after byte %d", d.InputOffset())
	}
	return nil
}

// CheckOverride tells whether a user's override can be laid over an install-config;
// empty is fine. The error is a model.ErrInvalid that names the field.
func CheckOverride(overrides string) error {
	return (&InstallConfig{}).override(overrides)
}
