package standin

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
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

type pool struct {
	Name           string         `json:"name"`
	Replicas       int            `json:"replicas"`
	Hyperthreading string         `json:"hyperthreading"`
	Architecture   string         `json:"architecture"`
	Platform       map[string]any `json:"platform"`
	Fencing        map[string]any `json:"fencing"`
}

type platform struct {
	None      *struct{}      `json:"none"`
	External  map[string]any `json:"external"`
	BareMetal *bareMetal     `json:"baremetal"`
}

type bareMetal struct {
	ProvisioningNetwork  string         `json:"provisioningNetwork"`
	APIVIP               string         `json:"apiVIP"`
	IngressVIP           string         `json:"ingressVIP"`
	APIVIPs              []string       `json:"apiVIPs"`
	IngressVIPs          []string       `json:"ingressVIPs"`
	Hosts                []machine      `json:"hosts"`
	LoadBalancer         map[string]any `json:"loadBalancer"`
	AdditionalNTPServers []string       `json:"additionalNTPServers"`
}

type machine struct {
	Name            string         `json:"name"`
	Role            string         `json:"role"`
	BootMACAddress  string         `json:"bootMACAddress"`
	BootMode        string         `json:"bootMode"`
	BMC             map[string]any `json:"bmc"`
	HardwareProfile string         `json:"hardwareProfile"`
	RootDeviceHints map[string]any `json:"rootDeviceHints"`
	NetworkConfig   map[string]any `json:"networkConfig"`
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
	require(c.ControlPlane.Replicas > 0, "controlPlane.replicas", "number of control plane replicas must be positive")
	require(len(c.Compute) == 1 && c.Compute[0].Name == "worker", "compute", "require one pool named worker")
	require(validPullSecret(c.PullSecret), "pullSecret", "Invalid value: auths required")
	require(validBundle(c.AdditionalTrustBundle), "additionalTrustBundle", "Invalid value: no PEM certificates")
	if c.ControlPlane.Replicas == 1 && c.Platform.None != nil {
		require(c.BootstrapInPlace != nil && c.BootstrapInPlace.InstallationDisk != "",
			"bootstrapInPlace.installationDisk", "Required value for a single node")
	}
	return errors.Join(append(faults, c.checkNetworks(), c.checkPlatform())...)
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

func (c *config) checkPlatform() error {
	n := 0
	for _, set := range []bool{c.Platform.None != nil, c.Platform.External != nil, c.Platform.BareMetal != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		return fault("platform", "must specify one of the platforms (baremetal, external, none), found %d", n)
	}
	if c.Platform.BareMetal == nil {
		return nil
	}
	b := c.Platform.BareMetal
	var faults []error
	for field, vips := range map[string][]string{"apiVIPs": append(b.APIVIPs, b.APIVIP), "ingressVIPs": append(b.IngressVIPs, b.IngressVIP)} {
		if addr, err := netip.ParseAddr(vips[0]); err != nil || !c.inMachineNetwork(addr) {
			faults = append(faults, fault("platform.baremetal."+field, "Invalid value: %q: IP expected to be in one of the machine networks", vips[0]))
		}
	}
	return errors.Join(append(faults, c.checkMachines(b.Hosts))...)
}

func (c *config) inMachineNetwork(addr netip.Addr) bool {
	for _, n := range c.Networking.MachineNetwork {
		if p, err := netip.ParsePrefix(n.CIDR); err == nil && p.Contains(addr) {
			return true
		}
	}
	return false
}

func (c *config) checkMachines(machines []machine) error {
	const field = "platform.baremetal.hosts"
	if len(machines) < c.ControlPlane.Replicas+c.Compute[0].Replicas {
		return fault(field, "not enough hosts found (%d) to support all the configured ControlPlane (%d) and Compute (%d) replicas",
			len(machines), c.ControlPlane.Replicas, c.Compute[0].Replicas)
	}
	seen := map[string]bool{}
	for _, m := range machines {
		mac, err := net.ParseMAC(m.BootMACAddress)
		if err != nil || m.Name == "" || seen[mac.String()] || seen[m.Name] {
			return fault(field, "Invalid or duplicate value: %q %q", m.Name, m.BootMACAddress)
		}
		seen[mac.String()], seen[m.Name] = true, true
	}
	return nil
}
