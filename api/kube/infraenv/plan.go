// Package infraenv lets the service have an InfraEnv for each resource InfraEnv. Plan decides, without asking anybody; Reconciler reads and
// applies.
package infraenv

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/wire"
)

// Messages of the condition ImageCreated, as the existing service has them.
const (
	created        = "Image has been created"
	failedToCreate = "Failed to create image"
)

// Inputs has everything that an InfraEnv depends on, read at one time.
type Inputs struct {
	Resource *agentinstall.InfraEnv
	// PullSecret is the text of the Secret that spec.pullSecretRef names.
	PullSecret string
	// Networks are the NMStateConfigs that spec.nmStateConfigLabelSelector selects.
	Networks []agentinstall.NMStateConfig
	// Mirrors of the ConfigMap that spec.mirrorRegistryRef names; nil: the spec names none.
	Mirrors *resource.Mirrors
	// ClusterID is the cluster of spec.clusterRef; zero: the spec names none.
	ClusterID uuid.UUID
}

// unsupported returns an error for settings that do not act yet: none is ignored without a word.
func unsupported(spec *agentinstall.InfraEnvSpec) error {
	if spec.OSImageVersion != "" && spec.ClusterRef != nil {
		return errors.New("spec.osImageVersion cannot be set together with spec.clusterRef: the version is the cluster's")
	}
	return nil
}

// Create returns the request for an InfraEnv that the service does not have.
func Create(in Inputs) (wire.InfraEnvCreateParams, error) {
	update, err := Update(in)
	if err != nil {
		return wire.InfraEnvCreateParams{}, err
	}
	spec := &in.Resource.Spec
	architecture := wire.InfraEnvCreateParamsCPUArchitecture(cmp.Or(spec.CpuArchitecture, "x86_64"))
	params := wire.InfraEnvCreateParams{
		Name: in.Resource.Name, PullSecret: in.PullSecret, CPUArchitecture: &architecture,
		AdditionalNtpSources: update.AdditionalNtpSources, NtpSources: update.NtpSources, AdditionalTrustBundle: update.AdditionalTrustBundle,
		IgnitionConfigOverride: update.IgnitionConfigOverride, ImageType: update.ImageType, KernelArguments: update.KernelArguments,
		NetworkDiscoveryDelaySeconds: update.NetworkDiscoveryDelaySeconds, OpenshiftVersion: update.OpenshiftVersion, Proxy: update.Proxy,
		SSHAuthorizedKey: update.SSHAuthorizedKey, StaticNetworkConfig: update.StaticNetworkConfig,
	}
	if in.ClusterID != uuid.Nil {
		params.ClusterID = &in.ClusterID
	}
	return params, nil
}

// Update returns the request that gives an InfraEnv all settings of its resource: what the spec does not set is reset. The service answers
// it without a change when nothing changes.
func Update(in Inputs) (wire.InfraEnvUpdateParams, error) {
	spec := &in.Resource.Spec
	if err := unsupported(spec); err != nil {
		return wire.InfraEnvUpdateParams{}, err
	}
	networks, err := staticNetworks(in.Networks)
	if err != nil {
		return wire.InfraEnvUpdateParams{}, err
	}
	override, err := withMirrors(spec.IgnitionConfigOverride, in.Mirrors)
	if err != nil {
		return wire.InfraEnvUpdateParams{}, err
	}
	arguments := make(wire.KernelArguments, len(spec.KernelArguments))
	for n, a := range spec.KernelArguments {
		arguments[n].Operation, arguments[n].Value = wire.KernelArgumentOperation(cmp.Or(a.Operation, "append")), a.Value
	}
	params := wire.InfraEnvUpdateParams{
		AdditionalNtpSources: new(strings.Join(spec.AdditionalNTPSources, ",")), NtpSources: new(strings.Join(spec.NTPSources, ",")),
		AdditionalTrustBundle: &spec.AdditionalTrustBundle, IgnitionConfigOverride: &override, KernelArguments: &arguments,
		Proxy: &wire.Proxy{}, PullSecret: &in.PullSecret, SSHAuthorizedKey: &spec.SSHAuthorizedKey, StaticNetworkConfig: &networks,
		NetworkDiscoveryDelaySeconds: cmp.Or(spec.NetworkDiscoveryDelaySeconds, new(int64)),
	}
	if spec.Proxy != nil {
		params.Proxy = &wire.Proxy{HTTPProxy: spec.Proxy.HTTPProxy, HTTPSProxy: spec.Proxy.HTTPSProxy, NoProxy: spec.Proxy.NoProxy}
	}
	if spec.ImageType != "" {
		params.ImageType = new(wire.ImageType(spec.ImageType))
	}
	if spec.OSImageVersion != "" {
		params.OpenshiftVersion = &spec.OSImageVersion
	}
	return params, nil
}

// staticNetworks returns the networks of hosts, by the names of their resources. Two that name the same card are an error: a host cannot
// have both.
func staticNetworks(configs []agentinstall.NMStateConfig) ([]wire.HostStaticNetworkConfig, error) {
	configs = slices.SortedFunc(slices.Values(configs), func(a, b agentinstall.NMStateConfig) int { return cmp.Compare(a.Name, b.Name) })
	out := make([]wire.HostStaticNetworkConfig, len(configs))
	taken := map[string]string{}
	for n := range configs {
		c := &configs[n]
		cards := make(wire.MacInterfaceMap, len(c.Spec.Interfaces))
		for i, card := range c.Spec.Interfaces {
			address := strings.ToLower(card.MacAddress)
			if other := taken[address]; other != "" && other != c.Name {
				return nil, fmt.Errorf("NMStateConfigs %s and %s have the same MAC address %s", other, c.Name, address)
			}
			taken[address] = c.Name
			cards[i].LogicalNicName, cards[i].MacAddress = card.Name, card.MacAddress
		}
		if !json.Valid(c.Spec.NetConfig.Raw) {
			return nil, fmt.Errorf("NMStateConfig %s: require spec.config, found none", c.Name)
		}
		out[n] = wire.HostStaticNetworkConfig{MacInterfaceMap: cards, NetworkYaml: string(c.Spec.NetConfig.Raw)}
	}
	return out, nil
}

// Current reports whether the addresses in the status are of the image that the service makes now, and good for more than half their time;
// and when to look again, zero: never.
func Current(in Inputs, env *wire.InfraEnv, now time.Time) (bool, time.Duration) {
	made, status := made(env), &in.Resource.Status
	// Two changes within a second have one time: addresses are compared too, without the credential in them.
	switch {
	case status.ISODownloadURL == "", !status.CreatedTime.Equal(&made), withoutToken(status.ISODownloadURL) != withoutToken(env.DownloadURL),
		(status.InfraEnvDebugInfo.StaticNetworkDownloadURL != "") != (len(in.Networks) > 0),
		strings.Contains(status.BootArtifacts.IpxeScriptURL, "boot-order-control") != diskScript(in):
		return false, 0
	}
	fresh := env.ExpiresAt.Time()
	if fresh.Year() <= 1 { // the addresses of the service do not end
		return expiry(status.ISODownloadURL).IsZero(), 0
	}
	left := expiry(status.ISODownloadURL).Sub(now) - fresh.Sub(now)/2
	return left > 0, left
}

// made returns when the image was made: resources have seconds.
func made(env *wire.InfraEnv) metav1.Time {
	return metav1.NewTime(env.UpdatedAt.Time().Truncate(time.Second))
}

var token = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)

func withoutToken(address string) string { return token.ReplaceAllString(address, "") }

// diskScript reports whether machines get the iPXE script that boots the disk of a host that is installed.
func diskScript(in Inputs) bool {
	return in.Resource.Spec.IPXEScriptType == agentinstall.BootOrderControl
}

// expiry returns when the token in an address ends; zero: it has none that does.
func expiry(address string) time.Time {
	var claims jwt.RegisteredClaims
	_, _, err := jwt.NewParser().ParseUnverified(token.FindString(address), &claims)
	if err != nil || claims.ExpiresAt == nil {
		return time.Time{}
	}
	return claims.ExpiresAt.Time
}

// Ready returns the status of a resource whose image can be downloaded. The addresses in it stay when keep is set.
func Ready(in Inputs, env *wire.InfraEnv, boot wire.BootArtifacts, keep bool, now metav1.Time) agentinstall.InfraEnvStatus {
	status := statusOf(in.Resource)
	if !keep {
		status.ISODownloadURL, status.CreatedTime = env.DownloadURL, new(made(env))
		script := boot.IpxeScriptURL
		if diskScript(in) {
			script = boot.IpxeDiskScriptURL
		}
		status.BootArtifacts = agentinstall.BootArtifacts{
			KernelURL: boot.KernelURL, InitrdURL: boot.InitrdURL, RootfsURL: boot.RootfsURL, IpxeScriptURL: script,
			DiscoveryIgnitionURL: boot.DiscoveryIgnitionURL,
		}
		status.InfraEnvDebugInfo = agentinstall.InfraEnvDebugInfo{EventsURL: boot.EventsURL}
		if len(in.Networks) > 0 {
			status.InfraEnvDebugInfo.StaticNetworkDownloadURL = boot.StaticNetworkURL
		}
	}
	setCondition(status, corev1.ConditionTrue, agentinstall.ReasonImageCreated, created, now)
	return *status
}

// statusOf returns a copy of the status, with what is the same in each.
func statusOf(r *agentinstall.InfraEnv) *agentinstall.InfraEnvStatus {
	status := r.Status.DeepCopy()
	status.AgentLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{agentinstall.InfraEnvLabel: r.Name}}
	return status
}

// Failed returns the status of a resource that the service cannot follow. Input: what a user has to change.
func Failed(r *agentinstall.InfraEnv, err error, input bool, now metav1.Time) agentinstall.InfraEnvStatus {
	status := statusOf(r)
	var missing *resource.MissingDeploymentError
	if errors.As(err, &missing) {
		setCondition(status, corev1.ConditionFalse, agentinstall.ReasonMissingClusterDeployment, err.Error(), now)
		return *status
	}
	message := failedToCreate + " due to an internal error: " + err.Error()
	if input { // the image is not what the resource says
		status.ISODownloadURL, status.CreatedTime, status.BootArtifacts = "", nil, agentinstall.BootArtifacts{}
		message = failedToCreate + ": " + err.Error()
	}
	setCondition(status, corev1.ConditionFalse, agentinstall.ReasonImageCreationError, message, now)
	return *status
}

func setCondition(s *agentinstall.InfraEnvStatus, status corev1.ConditionStatus, reason, message string, now metav1.Time) {
	resource.SetCondition(&s.Conditions, resource.Condition(agentinstall.ImageCreated, status, reason, message, now))
}
