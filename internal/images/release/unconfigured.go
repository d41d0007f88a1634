package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// A disconnected image serves the images of a release in a registry of its own, at these addresses. Newer
// images listen on the first port.
const applianceRegistries = `unqualified-search-registries = []

[[registry]]
  location = "quay.io/openshift-release-dev/ocp-release"
  prefix = ""
  [[registry.mirror]]
    location = "registry.appliance.openshift.com:22625/openshift/release-images"
  [[registry.mirror]]
    location = "registry.appliance.openshift.com:5000/openshift/release-images"

[[registry]]
  location = "quay.io/openshift-release-dev/ocp-v4.0-art-dev"
  prefix = ""
  [[registry.mirror]]
    location = "registry.appliance.openshift.com:22625/openshift/release"
  [[registry.mirror]]
    location = "registry.appliance.openshift.com:5000/openshift/release"
`

const (
	agentInstallVersion = "agent-install.openshift.io/v1beta1"
	// networkLabel links network settings to their InfraEnv.
	networkLabel   = "agent-install.openshift.io/infraenv-id"
	pullSecretName = "pull-secret"
)

// Unconfigured has the installer of a cluster's release make the Ignition config that a
// disconnected image starts with: the agent-based installer, with the settings of an InfraEnv and
// without a cluster, which is defined where the image boots (docs/reference/ignition.md,
// "Unconfigured Ignition"). It is another one each time: it holds new keys. Errors are as for
// Installer and Generate.
func (r *Releases) Unconfigured(ctx context.Context, c *model.Cluster, e *model.InfraEnv) ([]byte, error) {
	files, err := unconfiguredFiles(c, e)
	if err != nil {
		return nil, err
	}
	// Only the plain installer has the agent-based one in it, whatever the platform.
	i, err := r.Installer(ctx, Need{Image: c.ReleaseImage, Platform: "none", Version: c.OpenShiftVersion, PullSecret: e.PullSecret})
	if err != nil {
		return nil, err
	}
	defer i.Close()
	var config []byte
	err = i.inFolder(ctx, e.PullSecret.Reveal(), func(ctx context.Context, g *generation) error {
		for name, data := range files {
			if err := g.assets.write(name, data); err != nil {
				return fmt.Errorf("write %s: %w", path.Base(name), err)
			}
		}
		if err := g.command(ctx, "agent", "create", "unconfigured-ignition"); err != nil {
			return err
		}
		config, err = g.assets.read("unconfigured-agent.ign")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make config of a disconnected image: %w", err)
	}
	return config, nil
}

// object is a resource as the installer reads it.
type object map[string]any

// unconfiguredFiles returns the inputs of the installer, by their paths in its folder.
func unconfiguredFiles(c *model.Cluster, e *model.InfraEnv) (map[string][]byte, error) {
	networks, err := networkConfigs(e)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"mirror/registries.conf": []byte(applianceRegistries)}
	objects := map[string][]object{
		"cluster-manifests/infraenv.yaml": {infraEnvObject(e)},
		"cluster-manifests/pull-secret.yaml": {{
			"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "metadata": object{"name": pullSecretName},
			"stringData": object{".dockerconfigjson": e.PullSecret.Reveal()},
		}},
		"cluster-manifests/nmstateconfig.yaml": networks,
	}
	if e.RendezvousIP != "" { // all that this file may hold here
		objects["agent-config.yaml"] = []object{{
			"apiVersion": "v1beta1", "kind": "AgentConfig", "metadata": object{"name": c.Name}, "rendezvousIP": e.RendezvousIP,
		}}
	}
	for name, list := range objects {
		documents := make([][]byte, len(list))
		for i, o := range list {
			if documents[i], err = yaml.Marshal(o); err != nil {
				return nil, fmt.Errorf("write %s: %w", name, err)
			}
		}
		if len(list) > 0 {
			files[name] = bytes.Join(documents, []byte("---\n"))
		}
	}
	return files, nil
}

func infraEnvObject(e *model.InfraEnv) object {
	spec := object{
		"pullSecretRef":    object{"name": pullSecretName},
		"sshAuthorizedKey": e.SSHKeys(),
		"cpuArchitecture":  rpmArchitecture(e.CPUArchitecture),
	}
	if e.Proxy.HTTP != "" || e.Proxy.HTTPS != "" {
		spec["proxy"] = object{"httpProxy": e.Proxy.HTTP, "httpsProxy": e.Proxy.HTTPS, "noProxy": e.Proxy.ExceptionList()}
	}
	if len(e.NTPSources) > 0 {
		spec["additionalNTPSources"] = e.NTPSources
	}
	if e.StaticNetworkConfig != "" {
		spec["nmStateConfigLabelSelector"] = object{"matchLabels": object{networkLabel: e.ID.String()}}
	}
	return object{"apiVersion": agentInstallVersion, "kind": "InfraEnv", "metadata": object{"name": e.Name}, "spec": spec}
}

// rpmArchitecture returns the name that the installer has for an architecture.
func rpmArchitecture(name string) string {
	if name == "arm64" {
		return "aarch64"
	}
	return name
}

// networkConfigs returns the network settings of hosts, one object each.
func networkConfigs(e *model.InfraEnv) ([]object, error) {
	if e.StaticNetworkConfig == "" {
		return nil, nil
	}
	var hosts []struct {
		NetworkYAML string `json:"network_yaml"`
		Interfaces  []struct {
			MAC  string `json:"mac_address"`
			Name string `json:"logical_nic_name"`
		} `json:"mac_interface_map"`
	}
	if err := json.Unmarshal([]byte(e.StaticNetworkConfig), &hosts); err != nil {
		return nil, model.Invalidf("static_network_config must be a JSON list")
	}
	out := make([]object, len(hosts))
	for i, h := range hosts {
		var settings any
		if err := yaml.Unmarshal([]byte(h.NetworkYAML), &settings); err != nil {
			return nil, model.Invalidf("static_network_config[%d].network_yaml: %s", i, err)
		}
		interfaces := make([]object, len(h.Interfaces))
		for n, nic := range h.Interfaces {
			interfaces[n] = object{"name": nic.Name, "macAddress": nic.MAC}
		}
		out[i] = object{
			"apiVersion": agentInstallVersion, "kind": "NMStateConfig",
			"metadata": object{"name": fmt.Sprintf("nmstate-config-%d", i), "labels": object{networkLabel: e.ID.String()}},
			"spec":     object{"interfaces": interfaces, "config": settings},
		}
	}
	return out, nil
}
