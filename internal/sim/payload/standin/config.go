package standin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// config is the part of install-config.yaml that this program understands.
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
		ServiceNetwork      []string   `json:"serviceNetwork"`
		ClusterNetworkMTU   int        `json:"clusterNetworkMTU"`
		OVNKubernetesConfig *ovnConfig `json:"ovnKubernetesConfig"`
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
	PullSecret                  string        `json:"pullSecret"`
	SSHKey                      string        `json:"sshKey"`
	AdditionalTrustBundle       string        `json:"additionalTrustBundle"`
	AdditionalTrustBundlePolicy string        `json:"additionalTrustBundlePolicy"`
	ImageContentSources         []mirrors     `json:"imageContentSources"`
	ImageDigestSources          []mirrors     `json:"imageDigestSources"`
	Capabilities                *capabilities `json:"capabilities"`
	FIPS                        bool          `json:"fips"`
	OSImageStream               string        `json:"osImageStream"`
	CPUPartitioningMode         string        `json:"cpuPartitioningMode"`
	FeatureSet                  string        `json:"featureSet"`
	FeatureGates                []string      `json:"featureGates"`
	Publish                     string        `json:"publish"`
	CredentialsMode             string        `json:"credentialsMode"`
}

type ovnConfig struct {
	IPv4 *ovnFamily `json:"ipv4"`
	IPv6 *ovnFamily `json:"ipv6"`
}

type ovnFamily struct {
	InternalJoinSubnet string `json:"internalJoinSubnet"`
}

type mirrors struct {
	Source       string   `json:"source"`
	Mirrors      []string `json:"mirrors"`
	SourcePolicy string   `json:"sourcePolicy"`
}

type clusterNetwork struct {
	CIDR       string `json:"cidr"`
	HostPrefix int    `json:"hostPrefix"`
}

const installConfigFile = "install-config.yaml"

// readConfig reads and checks the install-config. A field that the program does not know is dropped with a
// warning, as the real one does; only a value of another type fails (openshift/installer,
// pkg/asset/installconfig/installconfigbase.go).
func (r *run) readConfig() (*config, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, installConfigFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInstallConfig, err)
	}
	var c config
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		r.log.Warn(fmt.Sprintf("failed to unmarshal %s: %s", installConfigFile, err))
		r.log.Info("Attempting to unmarshal while ignoring unknown keys because strict unmarshaling failed")
		c = config{}
		if err := yaml.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("%w: failed to unmarshal %s: %w", errInstallConfig, installConfigFile, err)
		}
	}
	r.forget(&c)
	if faults := r.check(&c); len(faults) > 0 {
		return nil, fmt.Errorf("%w: invalid %q file: %w", errInstallConfig, installConfigFile, faults.ToAggregate())
	}
	return &c, nil
}

// forget drops the fields that a program of this version does not know yet.
func (r *run) forget(c *config) {
	drop := func(unknown bool, name string) {
		if unknown {
			r.log.Warn(fmt.Sprintf("failed to unmarshal %s: unknown field %q", installConfigFile, name))
		}
	}
	if r.minor < 19 {
		drop(c.Arbiter != nil, "arbiter")
		drop(c.ControlPlane.Fencing != nil, "controlPlane.fencing")
		c.Arbiter, c.ControlPlane.Fencing = nil, nil
	}
	if r.minor < 21 {
		drop(c.OSImageStream != "", "osImageStream")
		c.OSImageStream = ""
	}
	if metal := c.Platform.BareMetal; metal != nil && r.minor < 18 {
		drop(len(metal.AdditionalNTPServers) > 0, "platform.baremetal.additionalNTPServers")
		metal.AdditionalNTPServers = nil
	}
}

// newest is the minor release of OpenShift 4 that the program is when it does not say.
const newest = 20

// minorOf returns the minor release of a version such as 4.20.33.
func minorOf(version string) (int, error) {
	if version == "" {
		return newest, nil
	}
	parts := strings.Split(version, ".")
	if len(parts) < 3 || parts[0] != "4" {
		return 0, errors.New("require a version of OpenShift 4, found " + version)
	}
	return strconv.Atoi(parts[1])
}
