package api

import (
	"encoding/json"
	"net/http"
	"slices"

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

// redactInfraEnv leaves out of an InfraEnv what opens or reveals more than the caller has: another address of the image, which would
// prolong its own, passwords in addresses, overrides and network settings, and values of kernel arguments.
func redactInfraEnv(e *wire.InfraEnv) {
	e.DownloadURL, e.ExpiresAt = "", wire.DateTime{}
	e.Proxy.HTTPProxy, e.Proxy.HTTPSProxy = redact.Address(e.Proxy.HTTPProxy), redact.Address(e.Proxy.HTTPSProxy)
	e.IgnitionConfigOverride = redact.JSON(e.IgnitionConfigOverride)
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
		if out, writeErr := yaml.Marshal(redact.Tree(tree)); err == nil && writeErr == nil {
			hosts[n].NetworkYaml = string(out)
		}
	}
	return wire.Text(hosts)
}
