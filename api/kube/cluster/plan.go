// Package cluster lets the service have a cluster for each ClusterDeployment that an AgentClusterInstall installs. Create, Update, Ready
// and Status decide, without asking anybody; Reconciler reads and applies.
package cluster

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/resource"
	"slipway/internal/wire"
)

// Annotations of an AgentClusterInstall.
const (
	overridesAnnotation      = "agent-install.openshift.io/install-config-overrides"
	ignoredClusterAnnotation = "agent-install.openshift.io/ignored-cluster-validations"
	ignoredHostAnnotation    = "agent-install.openshift.io/ignored-host-validations"
)

// Inputs has everything that a cluster depends on, read at one time.
type Inputs struct {
	Deployment *hive.ClusterDeployment
	Install    *hiveext.AgentClusterInstall
	// PullSecret is the text of the Secret that the ClusterDeployment names.
	PullSecret string
	// ReleaseImage is the image of the ClusterImageSet that spec.imageSetRef names.
	ReleaseImage string
	// EndpointCA is the certificate of the Secret that spec.ignitionEndpoint names.
	EndpointCA []byte
	// Manifests of the ConfigMaps that the spec names, and of its mirrors, by file.
	Manifests map[string]string
	// Overrides are the changes of the install-config, JSON: of the annotation and of the mirrors.
	Overrides string
	// Cluster of the service; nil: it has none.
	Cluster *wire.Cluster
	// Agents that name the ClusterDeployment.
	Agents []agentinstall.Agent
	// Attempted is set when an installation was begun with this spec before.
	Attempted bool
}

// unsupported returns an error for settings that do not act yet: none is ignored without a word.
func unsupported(spec *hiveext.AgentClusterInstallSpec) error {
	if spec.Arbiter != nil && spec.Arbiter.Hyperthreading == hiveext.HyperthreadingDisabled {
		return errors.New("spec.arbiter.hyperthreading: require Enabled, found Disabled")
	}
	return nil
}

// tagged finds the version in the tag of a release image, such as 4.20.5 in ocp-release:4.20.5-x86_64.
var tagged = regexp.MustCompile(`:(\d+\.\d+\.\d+(?:-(?:ec|rc|fc)\.\d+)?)(?:-[a-z0-9_]+)?$`)

// Create returns the request for a cluster that the service does not have.
func Create(in Inputs) (wire.ClusterCreateParams, error) {
	update, err := Update(in)
	if err != nil {
		return wire.ClusterCreateParams{}, err
	}
	text, err := json.Marshal(update)
	if err != nil {
		return wire.ClusterCreateParams{}, fmt.Errorf("encode the settings: %w", err)
	}
	var params wire.ClusterCreateParams
	if err := json.Unmarshal(text, &params); err != nil {
		return params, fmt.Errorf("read the settings of a new cluster: %w", err)
	}
	if version := tagged.FindStringSubmatch(in.ReleaseImage); version != nil {
		params.OpenshiftVersion = version[1]
	}
	params.OcpReleaseImage = &in.ReleaseImage
	return params, nil
}

// Update returns the request that gives a cluster all settings of its resources. The service answers it without a change when nothing
// changes. Networks, addresses and the platform that the spec leaves empty are the service's to choose.
func Update(in Inputs) (wire.V2ClusterUpdateParams, error) {
	spec := &in.Install.Spec
	if err := unsupported(spec); err != nil {
		return wire.V2ClusterUpdateParams{}, err
	}
	p := wire.V2ClusterUpdateParams{
		Name: &in.Deployment.Spec.ClusterName, BaseDNSDomain: &in.Deployment.Spec.BaseDomain, PullSecret: &in.PullSecret,
		ControlPlaneCount: &spec.ProvisionRequirements.ControlPlaneAgents, SSHPublicKey: new(strings.TrimSpace(spec.SSHPublicKey)),
		Hyperthreading: new(hyperthreading(spec)), SchedulableMasters: &spec.MastersSchedulable,
		NtpSources: new(strings.Join(spec.NTPSources, ",")), UserManagedNetworking: new(userManaged(spec)),
		HTTPProxy: new(""), HTTPSProxy: new(""), NoProxy: new(""),
		IgnitionEndpoint: &wire.IgnitionEndpoint{}, DiskEncryption: &wire.DiskEncryption{EnableOn: "none"},
	}
	if spec.Proxy != nil {
		p.HTTPProxy, p.HTTPSProxy, p.NoProxy = &spec.Proxy.HTTPProxy, &spec.Proxy.HTTPSProxy, &spec.Proxy.NoProxy
	}
	if e := spec.IgnitionEndpoint; e != nil {
		p.IgnitionEndpoint.URL = e.Url
		if len(in.EndpointCA) > 0 {
			p.IgnitionEndpoint.CaCertificate = base64.StdEncoding.EncodeToString(in.EndpointCA)
		}
	}
	if d := spec.DiskEncryption; d != nil && d.EnableOn != nil {
		p.DiskEncryption.EnableOn = wire.DiskEncryptionEnableOn(*d.EnableOn)
		if d.Mode != nil {
			p.DiskEncryption.Mode = wire.DiskEncryptionMode(*d.Mode)
		}
		p.DiskEncryption.TangServers = d.TangServers
	}
	networks(&p, spec)
	if spec.PlatformType != "" {
		p.Platform = &wire.Platform{Type: wire.PlatformType(strings.ToLower(string(spec.PlatformType)))}
		if e := spec.ExternalPlatformSpec; e != nil && p.Platform.Type == wire.PlatformTypeExternal {
			p.Platform.External.PlatformName = e.PlatformName
			p.Platform.External.CloudControllerManager = wire.PlatformExternalCloudControllerManager(e.CloudControllerManager)
		}
	}
	if spec.LoadBalancer != nil {
		kinds := map[string]wire.LoadBalancerType{"": "cluster-managed", "ClusterManaged": "cluster-managed", "UserManaged": "user-managed"}
		p.LoadBalancer = &wire.LoadBalancer{Type: kinds[spec.LoadBalancer.Type]}
	}
	return p, nil
}

// networks sets the networks and virtual addresses that the spec names.
func networks(p *wire.V2ClusterUpdateParams, spec *hiveext.AgentClusterInstallSpec) {
	n := &spec.Networking
	if len(n.ClusterNetwork) > 0 {
		list := make([]wire.ClusterNetwork, len(n.ClusterNetwork))
		for i, c := range n.ClusterNetwork {
			list[i].Cidr, list[i].HostPrefix = c.CIDR, int(c.HostPrefix)
		}
		p.ClusterNetworks = &list
	}
	if len(n.ServiceNetwork) > 0 {
		list := make([]wire.ServiceNetwork, len(n.ServiceNetwork))
		for i, cidr := range n.ServiceNetwork {
			list[i].Cidr = cidr
		}
		p.ServiceNetworks = &list
	}
	if len(n.MachineNetwork) > 0 {
		list := make([]wire.MachineNetwork, len(n.MachineNetwork))
		for i, m := range n.MachineNetwork {
			list[i].Cidr = m.CIDR
		}
		p.MachineNetworks = &list
	}
	if n.NetworkType != "" {
		p.NetworkType = new(wire.V2ClusterUpdateParamsNetworkType(n.NetworkType))
	}
	if vips := either(spec.APIVIPs, spec.APIVIP); len(vips) > 0 {
		list := make([]wire.APIVip, len(vips))
		for i, ip := range vips {
			list[i].IP = ip
		}
		p.APIVips = &list
	}
	if vips := either(spec.IngressVIPs, spec.IngressVIP); len(vips) > 0 {
		list := make([]wire.IngressVip, len(vips))
		for i, ip := range vips {
			list[i].IP = ip
		}
		p.IngressVips = &list
	}
}

// either returns a list, or the one value that older resources have instead.
func either(list []string, one string) []string {
	if len(list) > 0 || one == "" {
		return list
	}
	return []string{one}
}

// userManaged reports whether somebody else cares for load balancers and DNS: always so for a single node.
func userManaged(spec *hiveext.AgentClusterInstallSpec) bool {
	asked := spec.Networking.UserManagedNetworking
	return asked != nil && *asked || singleNode(spec)
}

func singleNode(spec *hiveext.AgentClusterInstallSpec) bool {
	return spec.ProvisionRequirements.ControlPlaneAgents == 1 && spec.ProvisionRequirements.WorkerAgents == 0
}

// hyperthreading returns the roles with it: all, unless a pool says otherwise.
func hyperthreading(spec *hiveext.AgentClusterInstallSpec) wire.V2ClusterUpdateParamsHyperthreading {
	on := func(p *hiveext.AgentMachinePool) bool {
		return cmp.Or(p.Hyperthreading, hiveext.HyperthreadingEnabled) == hiveext.HyperthreadingEnabled
	}
	masters, workers := spec.ControlPlane == nil || on(spec.ControlPlane), true
	for n := range spec.Compute {
		if p := &spec.Compute[n]; p.Name == "worker" {
			workers = on(p)
		}
	}
	switch {
	case masters && workers:
		return "all"
	case masters:
		return "masters"
	case workers:
		return "workers"
	}
	return "none"
}

// Ignored returns the validations that the user asks to be ignored; false: the user asks for nothing, and the cluster ignores none.
func Ignored(in Inputs) (wire.IgnoredValidations, bool) {
	clusters, hosts := in.Install.Annotations[ignoredClusterAnnotation], in.Install.Annotations[ignoredHostAnnotation]
	differs := clusters != in.Cluster.IgnoredClusterValidations || hosts != in.Cluster.IgnoredHostValidations
	return wire.IgnoredValidations{ClusterValidationIds: &clusters, HostValidationIds: &hosts}, differs
}

// agents counts hosts of a cluster by their roles.
type agents struct{ masters, arbiters, workers int }

func (a agents) all() int { return a.masters + a.arbiters + a.workers }

func (a *agents) add(role wire.HostRole) {
	switch role {
	case wire.HostRoleMaster, wire.HostRoleBootstrap:
		a.masters++
	case wire.HostRoleArbiter:
		a.arbiters++
	default:
		a.workers++
	}
}

func role(h *wire.Host) wire.HostRole {
	if h.Role == wire.HostRoleAutoAssign {
		return h.SuggestedRole
	}
	return h.Role
}

// counts has the hosts of a cluster by what they wait for.
type counts struct {
	registered agents // in any status
	ready      agents
	unapproved int // of the ready ones
	unsynced   int // Agents whose spec the service refuses
}

func count(in Inputs) counts {
	var c counts
	approved := map[uuid.UUID]bool{}
	for n := range in.Agents {
		a := &in.Agents[n]
		if id, err := uuid.Parse(a.Name); err == nil {
			approved[id] = a.Spec.Approved
		}
		if !applied(a) {
			c.unsynced++
		}
	}
	for n := range in.Cluster.Hosts {
		h := &in.Cluster.Hosts[n]
		c.registered.add(role(h))
		if h.Status != wire.HostStatusKnown {
			continue
		}
		c.ready.add(role(h))
		if !approved[h.ID] {
			c.unapproved++
		}
	}
	return c
}

func expected(in Inputs) agents {
	r := in.Install.Spec.ProvisionRequirements
	return agents{masters: r.ControlPlaneAgents, arbiters: r.ArbiterAgents, workers: r.WorkerAgents}
}

// Ready reports whether the installation begins now: the cluster and exactly the hosts that the spec asks for are ready and approved, and
// the user does not hold it. After a preparation that failed it begins again once the spec changes.
func Ready(in Inputs) bool {
	if in.Attempted && in.Cluster.LastInstallationPreparation.Status == wire.LastInstallationPreparationStatusFailed {
		return false
	}
	c := count(in)
	return in.Cluster.Status == wire.ClusterStatusReady && !in.Install.Spec.HoldInstallation && c.ready == expected(in) && c.unapproved == 0 &&
		c.unsynced == 0
}

// Joining returns the hosts that are installed into a cluster that exists: known and approved.
func Joining(in Inputs) []wire.Host {
	approved := map[string]bool{}
	for n := range in.Agents {
		approved[in.Agents[n].Name] = in.Agents[n].Spec.Approved
	}
	return slices.DeleteFunc(slices.Clone(in.Cluster.Hosts), func(h wire.Host) bool {
		return h.Kind != wire.HostKindAddToExistingClusterHost || h.Status != wire.HostStatusKnown || !approved[h.ID.String()]
	})
}

// Manifests compares the manifests of the spec with the files that the cluster has. It returns the files to write and to remove.
func Manifests(in Inputs, has map[string]string) (write map[string]string, remove []string) {
	write = map[string]string{}
	for name, content := range in.Manifests {
		if found, exists := has[name]; !exists || found != content {
			write[name] = content
		}
	}
	for name := range has {
		if _, wanted := in.Manifests[name]; !wanted {
			remove = append(remove, name)
		}
	}
	slices.Sort(remove)
	return write, remove
}

// merge adds files to manifests.
func merge(into, from map[string]string, name string) error {
	for file, content := range from {
		if _, exists := into[file]; exists {
			return &resource.InputError{Err: fmt.Errorf("require each manifest once, found %s again in %s", file, name)}
		}
		into[file] = content
	}
	return nil
}
