package standin

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// config is the part of install-config.yaml that this program understands; anything
// else is refused, as the real program refuses what it does not know.
type config struct {
	APIVersion string `json:"apiVersion"`
	BaseDomain string `json:"baseDomain"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Networking struct {
		NetworkType    string           `json:"networkType"`
		ClusterNetwork []clusterNetwork `json:"clusterNetwork"`
		MachineNetwork []struct {
			CIDR string `json:"cidr"`
		} `json:"machineNetwork"`
		ServiceNetwork      []string       `json:"serviceNetwork"`
		ClusterNetworkMTU   int            `json:"clusterNetworkMTU"`
		OVNKubernetesConfig map[string]any `json:"ovnKubernetesConfig"`
	} `json:"networking"`
	Compute          []pool   `json:"compute"`
	ControlPlane     pool     `json:"controlPlane"`
	Arbiter          *pool    `json:"arbiter"`
	Platform         platform `json:"platform"`
	BootstrapInPlace *struct {
		InstallationDisk string `json:"installationDisk"`
	} `json:"bootstrapInPlace"`
	Proxy *struct {
		HTTPProxy  string `json:"httpProxy"`
		HTTPSProxy string `json:"httpsProxy"`
		NoProxy    string `json:"noProxy"`
	} `json:"proxy"`
	PullSecret                  string         `json:"pullSecret"`
	SSHKey                      string         `json:"sshKey"`
	AdditionalTrustBundle       string         `json:"additionalTrustBundle"`
	AdditionalTrustBundlePolicy string         `json:"additionalTrustBundlePolicy"`
	ImageContentSources         []any          `json:"imageContentSources"`
	ImageDigestSources          []any          `json:"imageDigestSources"`
	Capabilities                map[string]any `json:"capabilities"`
	FIPS                        bool           `json:"fips"`
	CPUPartitioningMode         string         `json:"cpuPartitioningMode"`
	FeatureSet                  string         `json:"featureSet"`
	FeatureGates                []string       `json:"featureGates"`
	Publish                     string         `json:"publish"`
	CredentialsMode             string         `json:"credentialsMode"`
}

type clusterNetwork struct {
	CIDR       string `json:"cidr"`
	HostPrefix int    `json:"hostPrefix"`
}

const installConfigFile = "install-config.yaml"

// readConfig reads and checks the install-config.
func (r *run) readConfig() (*config, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, installConfigFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInstallConfig, err)
	}
	var c config
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return nil, fmt.Errorf("%w: failed to unmarshal %s: %w", errInstallConfig, installConfigFile, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%w: invalid %q file: %w", errInstallConfig, installConfigFile, err)
	}
	return &c, nil
}

var clusterName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// fault names a field that is not acceptable.
func fault(field, format string, args ...any) error {
	return fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...))
}

func (c *config) check() error {
	var faults []error
	require := func(ok bool, field, format string, args ...any) {
		if !ok {
			faults = append(faults, fault(field, format, args...))
		}
	}
	require(c.APIVersion == "v1", "apiVersion", "Unsupported value: %q", c.APIVersion)
	require(clusterName.MatchString(c.Metadata.Name), "metadata.name", "Invalid value: %q", c.Metadata.Name)
	require(strings.Contains(c.BaseDomain, "."), "baseDomain", "Invalid value: %q", c.BaseDomain)
	require(len(c.FeatureGates) == 0 || c.FeatureSet == "CustomNoUpgrade", "featureGates", "require featureSet CustomNoUpgrade")
	require(c.ControlPlane.Replicas > 0, "controlPlane.replicas", "number of control plane replicas must be positive")
	require(len(c.Compute) == 1 && c.Compute[0].Name == "worker", "compute", "require one pool named worker")
	require(validPullSecret(c.PullSecret), "pullSecret", "Invalid value: auths required")
	require(validBundle(c.AdditionalTrustBundle), "additionalTrustBundle", "Invalid value: no PEM certificates")
	if c.ControlPlane.Replicas == 1 && c.Platform.None != nil {
		require(c.BootstrapInPlace != nil && c.BootstrapInPlace.InstallationDisk != "",
			"bootstrapInPlace.installationDisk", "Required value for a single node")
	}
	return errors.Join(append(faults, c.checkNetworks(), c.checkFamilies(), c.checkPlatform(), c.checkControlPlane())...)
}

func validPullSecret(secret string) bool {
	var s struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(secret), &s) != nil || len(s.Auths) == 0 {
		return false
	}
	for _, a := range s.Auths {
		if a.Auth == "" {
			return false
		}
	}
	return true
}

func validBundle(bundle string) bool {
	if bundle == "" {
		return true
	}
	block, _ := pem.Decode([]byte(bundle))
	return block != nil && block.Type == "CERTIFICATE"
}

func (c *config) checkNetworks() error {
	var faults []error
	cidrs := map[string][]string{"serviceNetwork": c.Networking.ServiceNetwork}
	for _, n := range c.Networking.ClusterNetwork {
		cidrs["clusterNetwork"] = append(cidrs["clusterNetwork"], n.CIDR)
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && n.HostPrefix < p.Bits() {
			faults = append(faults, fault("networking.clusterNetwork", "host prefix %d is larger than %s", n.HostPrefix, n.CIDR))
		}
	}
	for _, n := range c.Networking.MachineNetwork {
		cidrs["machineNetwork"] = append(cidrs["machineNetwork"], n.CIDR)
	}
	for _, name := range []string{"clusterNetwork", "machineNetwork", "serviceNetwork"} {
		if len(cidrs[name]) == 0 {
			faults = append(faults, fault("networking."+name, "Required value"))
		}
		for _, cidr := range cidrs[name] {
			if p, err := netip.ParsePrefix(cidr); err != nil || p.Masked() != p {
				faults = append(faults, fault("networking."+name, "Invalid value: %q", cidr))
			}
		}
	}
	return errors.Join(faults...)
}
