package ignition

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// Agent is the agent's program as the service serves it to a host.
type Agent struct {
	URL     string // http or https
	SHA256  string // hex, of the file
	Version string // the version that the agent reports when it registers
	// Key verifies the programs that the agent may become, in base64; empty: it compares their hash alone.
	Key string
}

// Mirror redirects container images from their own registries.
type Mirror struct {
	RegistriesConf string // containers-registries.conf(5)
	CA             string // PEM, of the mirror's certificate
}

// Deployment holds the settings of the service that apply to all hosts.
type Deployment struct {
	Mirror Mirror
	// RootCA is a certificate in PEM that hosts trust besides the public ones; empty without.
	RootCA string
	// InsecurePolicy lets hosts run images without signatures (FORCE_INSECURE_POLICY_JSON).
	InsecurePolicy bool
	// OKDPackages is the image with the programs that hosts of an OKD release lack
	// (OKD_RPMS_IMAGE); empty for OpenShift.
	OKDPackages string
}

// DiscoveryInput is the input of an InfraEnv's discovery config.
type DiscoveryInput struct {
	InfraEnv   *model.InfraEnv
	ServiceURL string // base address of the service, without /api
	// ServiceCA is the certificate authority of an https service, in PEM; Ignition and
	// the agent trust it. Empty when a public one signed.
	ServiceCA string
	// Insecure makes hosts accept any certificate of the service: the agent itself, and curl that fetches it, because the fetched program
	// is checked by its hash.
	Insecure bool
	Agent    Agent
	// AgentToken authenticates the agent (docs/reference/auth.md, "Token of the agent");
	// empty without authentication.
	AgentToken model.Secret
	Deployment Deployment
	// OpenShiftVersion is the image's version, which determines the configs its Ignition reads; empty: all.
	OpenShiftVersion string
	// StaticNetwork are the network settings of all hosts; empty with a minimal image.
	// NetworkMethod is how hosts apply them; empty: keyfiles.
	StaticNetwork []staticnet.File
	NetworkMethod staticnet.Method
	// InternalOverride is merged before the user's override. A config there starts another kind of agent, so
	// Slipway's is left disabled.
	InternalOverride string
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sections are the parts of the discovery config, in the order they are merged.
var sections = []struct {
	template string
	when     func(*discovery) bool // nil: always
}{
	{"base", nil},
	{"agent", nil},
	{"storage", (*discovery).openShift},
	{"oracle-cloud", (*discovery).openShift},
	{"okd", func(d *discovery) bool { return d.OKDPackages != "" }},
	{"access", func(d *discovery) bool { return len(d.SSHKeys) > 0 }},
	{"proxy", func(d *discovery) bool { return d.Proxy != model.Proxy{} }},
	{"ntp", func(d *discovery) bool { return d.NTPScript != "" }},
	{"service-ca", func(d *discovery) bool { return d.ServiceCA != "" }},
	{"trust-bundle", func(d *discovery) bool { return d.TrustBundle != "" }},
	{"root-ca", func(d *discovery) bool { return d.RootCA != "" }},
	{"mirror", func(d *discovery) bool { return d.Mirror.RegistriesConf != "" }},
	{"mirror-ca", func(d *discovery) bool { return d.Mirror.CA != "" }},
	{"insecure-policy", func(d *discovery) bool { return d.InsecurePolicy }},
	{"static-network", (*discovery).hasStaticNetwork},
	{"delay", func(d *discovery) bool { return d.DelaySeconds > 0 }},
}

// Discovery builds the Ignition config that hosts of an InfraEnv boot with: version 3.1.0, or the one an
// override requires (docs/reference/ignition.md, "Discovery config"). A fault of an override is a
// model.ErrInvalid.
func Discovery(in DiscoveryInput) ([]byte, error) {
	d, err := newDiscovery(in)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range sections {
		if a.when == nil || a.when(d) {
			names = append(names, a.template)
		}
	}
	config, err := render(d, names...)
	if err == nil {
		config, err = d.addFiles(config)
	}
	if err != nil {
		return nil, fmt.Errorf("build discovery config of %s: %w", in.InfraEnv.ID, err)
	}
	config, err = applyLive(config,
		override{"internal_ignition_config_override", in.InternalOverride},
		override{"ignition_config_override", in.InfraEnv.IgnitionConfigOverride})
	if err == nil && d.openShift() {
		err = checkKnown(config, in.OpenShiftVersion)
	}
	if err != nil {
		return nil, err
	}
	return config, nil
}

// discovery is the data of the templates.
type discovery struct {
	InfraEnvID    uuid.UUID
	PullSecret    string
	SSHKeys       []string
	Proxy         model.Proxy
	NoProxy       []string
	ProxyProfile  string
	NTPScript     string
	ServiceCA     string
	ServiceCAPath string
	TrustBundle   string
	Deployment
	Agent            Agent
	AgentSum         string // a line of sha256sum
	CurlArgs         string // what curl trusts, for a shell
	AgentArgs        []string
	AgentEnvironment string
	AgentEnabled     bool
	StaticNetwork    []staticnet.File
	NetworkMethod    staticnet.Method
	DelaySeconds     int64
}

// openShift reports whether the image is Red Hat's system, which has these programs, and not the system of OKD.
func (d *discovery) openShift() bool { return d.OKDPackages == "" }

func newDiscovery(in DiscoveryInput) (*discovery, error) {
	if err := requireHTTP("address of the service", in.ServiceURL); err != nil {
		return nil, err
	}
	if err := requireHTTP("address of the agent", in.Agent.URL); err != nil {
		return nil, err
	}
	if !sha256Hex.MatchString(in.Agent.SHA256) {
		return nil, fmt.Errorf("require the sha256 of the agent in hex, found %q", in.Agent.SHA256)
	}
	e := in.InfraEnv
	return &discovery{
		InfraEnvID:       e.ID,
		PullSecret:       e.PullSecret.Reveal(),
		SSHKeys:          keys(e),
		Proxy:            e.Proxy,
		NoProxy:          e.Proxy.Exceptions(),
		ProxyProfile:     proxyProfile(e.Proxy),
		NTPScript:        ntpScript(e.NTPSources, e.NTPSourcesOnly),
		ServiceCA:        in.ServiceCA,
		ServiceCAPath:    ServiceCAPath,
		TrustBundle:      e.TrustBundle(),
		Deployment:       in.Deployment,
		Agent:            in.Agent,
		AgentSum:         in.Agent.SHA256 + "  /usr/local/bin/slipway-agent.new",
		CurlArgs:         curlArgs(in),
		AgentArgs:        agentArgs(in),
		AgentEnvironment: environmentFile(agentVariables(in)),
		AgentEnabled:     in.InternalOverride == "",
		StaticNetwork:    in.StaticNetwork,
		NetworkMethod:    cmp.Or(in.NetworkMethod, staticnet.MethodKeyfiles),
		DelaySeconds:     int64(e.DiscoveryDelay / time.Second),
	}, nil
}

func requireHTTP(what, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("require an http or https %s, found %q", what, address)
	}
	return nil
}

// agentArgs lists the arguments of the agent (docs/reference/agent-protocol.md, "Flags and variables").
func agentArgs(in DiscoveryInput) []string {
	args := []string{"--url", in.ServiceURL, "--infra-env-id", in.InfraEnv.ID.String(), "--agent-version", in.Agent.Version}
	if in.ServiceCA != "" {
		args = append(args, "--cacert", ServiceCAPath)
	}
	if in.Insecure {
		args = append(args, "--insecure")
	}
	return args
}

// agentVariables lists the variables of the agent. The key is among them: agents of before pass over variables that they do not know.
func agentVariables(in DiscoveryInput) [][2]string {
	variables := [][2]string{{"PULL_SECRET_TOKEN", in.AgentToken.Reveal()}}
	if in.Agent.Key != "" {
		variables = append(variables, [2]string{"SLIPWAY_PROGRAM_KEY", in.Agent.Key})
	}
	return append(variables, proxyVariables(in.InfraEnv.Proxy)...)
}

// curlArgs returns curl's arguments for the certificate of the service.
func curlArgs(in DiscoveryInput) string {
	switch {
	case in.Insecure:
		return "--insecure"
	case in.ServiceCA != "":
		return "--cacert " + ServiceCAPath
	}
	return ""
}

// keys returns the SSH keys of an InfraEnv without comments.
func keys(e *model.InfraEnv) []string {
	var found []string
	for line := range strings.SplitSeq(e.SSHKeys(), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}
