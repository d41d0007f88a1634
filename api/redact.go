package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/api/admission"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// redacted stands for a secret that a caller is not to see. That there is one stays visible: the controller of a new cluster acts
// on it.
const redacted = redact.Mark

// readsSecrets reports whether a caller sees the secrets of clusters, hosts and InfraEnvs: machines need none, and viewers are not to have
// any.
func readsSecrets(r *http.Request) bool {
	return slices.Contains([]auth.Role{auth.RoleAdmin, auth.RoleUser, auth.RoleKube}, admission.CallerOf(r).Role)
}

// redactCluster leaves out of a cluster what opens other machines: passwords in overrides and addresses.
func redactCluster(c *wire.Cluster) {
	c.InstallConfigOverrides = redactedJSON(c.InstallConfigOverrides)
	c.HTTPProxy, c.HTTPSProxy = withoutPassword(c.HTTPProxy), withoutPassword(c.HTTPSProxy)
	c.IgnitionEndpoint.URL = withoutPassword(c.IgnitionEndpoint.URL)
}

// redactInfraEnv leaves out of an InfraEnv what opens or reveals more than the caller has: another address of the image, which would
// prolong its own, passwords in addresses, overrides and network settings, and values of kernel arguments.
func redactInfraEnv(e *wire.InfraEnv) {
	e.DownloadURL, e.ExpiresAt = "", wire.DateTime{}
	e.Proxy.HTTPProxy, e.Proxy.HTTPSProxy = withoutPassword(e.Proxy.HTTPProxy), withoutPassword(e.Proxy.HTTPSProxy)
	e.IgnitionConfigOverride = redactedJSON(e.IgnitionConfigOverride)
	e.StaticNetworkConfig = redactedNetwork(e.StaticNetworkConfig)
	if e.KernelArguments == "" {
		return
	}
	var arguments []wire.KernelArgument
	_ = json.Unmarshal([]byte(e.KernelArguments), &arguments) // written here
	for n := range arguments {
		arguments[n].Value = redact.Value(arguments[n].Value)
	}
	e.KernelArguments = wire.Text(arguments)
}

// redactedNetwork replaces the secrets in the network settings of hosts; settings that cannot be read are left out.
func redactedNetwork(text string) string {
	var hosts []wire.HostStaticNetworkConfig
	if text == "" || json.Unmarshal([]byte(text), &hosts) != nil {
		return ""
	}
	for n := range hosts {
		var tree any
		err := yaml.Unmarshal([]byte(hosts[n].NetworkYaml), &tree)
		hosts[n].NetworkYaml = ""
		if out, writeErr := yaml.Marshal(redactedTree(tree)); err == nil && writeErr == nil {
			hosts[n].NetworkYaml = string(out)
		}
	}
	return wire.Text(hosts)
}

// redactedJSON replaces the secrets in a JSON object; a text that cannot be read is left out.
func redactedJSON(text string) string {
	if text == "" {
		return ""
	}
	var tree map[string]any
	if json.Unmarshal([]byte(text), &tree) != nil {
		return ""
	}
	out, err := json.Marshal(redactedTree(tree))
	if err != nil {
		return ""
	}
	return string(out)
}

func redactedTree(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			switch value.(type) {
			case map[string]any, []any, bool, nil:
				node[name] = redactedTree(value)
			default: // a text or a number
				if node[name] = redactedTree(value); redact.Name(name) {
					node[name] = redacted
				}
			}
		}
	case []any:
		for i, value := range node {
			node[i] = redactedTree(value)
		}
	case string:
		return withoutPassword(node)
	}
	return tree
}

// withoutPassword replaces the password of an address.
func withoutPassword(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
