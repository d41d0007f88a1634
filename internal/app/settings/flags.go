// Package settings reads the settings of the service.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/model"
	"slipway/internal/platform/guard"
)

// Log are the flags --log-*, which every command has.
type Log struct {
	Format string     `default:"text" enum:"text,json" env:"SLIPWAY_LOG_FORMAT" help:"How to write the log: text or json."`
	Level  slog.Level `default:"info" env:"SLIPWAY_LOG_LEVEL" help:"What to log: debug, info, warn or error."`
}

// Up are the flags of slipway up.
type Up struct {
	Service
	Bundled
	Listen       string `default:"127.0.0.1:8090" env:"SLIPWAY_LISTEN" help:"Address the API listens on."`
	DatabaseURL  string `env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL to use instead of one in the data folder." placeholder:"URL"`
	TemporalPort int    `default:"7233" env:"SLIPWAY_TEMPORAL_PORT" help:"Port of Temporal on loopback; the next three are used too; 0: any free ones. With TEMPORAL_ADDRESS set, that Temporal is used and none is started."`
	Kubeconfig   string `env:"SLIPWAY_KUBECONFIG" type:"path" help:"Access to a hub cluster whose resources are followed, as slipway kube does." placeholder:"FILE"`
	TemporalLog  string `name:"temporal-log-level" default:"warn" enum:"debug,info,warn,error" env:"SLIPWAY_TEMPORAL_LOG_LEVEL" help:"What of Temporal's own log to show: debug, info, warn or error."`
}

// API are the flags of slipway api.
type API struct {
	Service
	Listen      string `default:"127.0.0.1:8090" env:"SLIPWAY_LISTEN" help:"Address the API listens on."`
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL that the service keeps its data in." placeholder:"URL"`
}

// Worker are the flags of slipway worker.
type Worker struct {
	Service
	Listen      string `default:"127.0.0.1:8091" env:"SLIPWAY_LISTEN" help:"Address of /health, /ready and /metrics."`
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL that the service keeps its data in." placeholder:"URL"`
}

// Service are the flags of every command that runs a part of the service.
type Service struct {
	ConfigFile
	Operators
	Releases
	Deployment
	Images
	Requirements     string         `env:"HW_VALIDATOR_REQUIREMENTS" help:"Hardware requirements instead of the shipped ones, a JSON list." placeholder:"JSON"`
	InsecureRegistry []string       `env:"SLIPWAY_INSECURE_REGISTRY" help:"Registries, host:port, that are read without TLS." placeholder:"HOST:PORT"`
	FetchNetworks    []string       `name:"fetch-networks" env:"SLIPWAY_FETCH_NETWORKS" help:"The only networks, CIDR, that images are read from and that API servers of installed clusters are in, beside hosts that settings name; by default all but this machine and its links, which are opened by networks within these." placeholder:"CIDR"`
	FetchHosts       []string       `name:"fetch-hosts" env:"SLIPWAY_FETCH_HOSTS" help:"Registries, and API servers of installed clusters, that users may name although they are on this machine, on its links or beyond --fetch-networks." placeholder:"HOST:PORT"`
	AgentBinaries    string         `env:"SLIPWAY_AGENT_BINARIES" type:"path" help:"Folder with slipway-agent and slipway-controller binaries for hosts and new clusters; by default the folder of this program, or ../lib/slipway beside it." placeholder:"FOLDER"`
	BlobURL          string         `env:"SLIPWAY_BLOB_URL" help:"Where files are kept: s3://bucket?..., by default a folder of the data folder." placeholder:"URL"`
	DecisionTimeout  time.Duration  `default:"24h" env:"SLIPWAY_DECISION_TIMEOUT" help:"How long a failed host waits for a retry."`
	Retention        *time.Duration `env:"SLIPWAY_WORKFLOW_RETENTION" name:"workflow-retention" help:"How long Temporal keeps the history of an ended workflow: whole days in hours; by default 720h, with an external Temporal only for a namespace that the service creates." placeholder:"DURATION"`
	Heartbeat        time.Duration  `default:"3m" env:"SLIPWAY_HEARTBEAT" help:"How long a step continues while its host does not report; at least 15s."`
	MaxHosts         uint           `name:"max-hosts" default:"5000" env:"SLIPWAY_MAX_HOSTS" help:"How many hosts an InfraEnv takes; 0: any number."`
	NewHosts         uint           `name:"new-hosts-per-minute" default:"2000" env:"SLIPWAY_NEW_HOSTS_PER_MINUTE" help:"How many hosts may register for the first time within a minute by the image of one InfraEnv; the others come again; 0: any number."`
	Kept
	BuildID string `name:"build-id" env:"WORKER_BUILD_ID" help:"Version of the worker in Temporal, a semantic version; by default the program's version, with the time and hash of its commit. The newest that runs gets the work." placeholder:"VERSION"`
	Auth
	TLS
	Connections
	Requests
	KeyFile
	ProfileSocket   string `name:"profile-socket" env:"SLIPWAY_PROFILE_SOCKET" type:"path" help:"Socket in the file system that serves profiles of the process (net/http/pprof) to its user and root." placeholder:"FILE"`
	ReplaceIdentity bool   `name:"replace-identity" help:"Start with another token key or authority than the database was used with, and record it. Tokens, discovery images and installing hosts from before are refused then."`
	DataDir         string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for everything the service keeps."`
	BaseURL         string `env:"SLIPWAY_BASE_URL,SERVICE_BASE_URL" help:"Address that hosts and users reach the API at; by default the address of --listen." placeholder:"URL"`
}

// leastHeartbeat leaves room for a heartbeat every third of it: the orchestrator looks every five seconds which are due.
const leastHeartbeat = 15 * time.Second

// CheckDurations returns an error for each duration that nothing can work with.
func (s Service) CheckDurations() error {
	var wrong []error
	for _, d := range []struct {
		flag         string
		given, least time.Duration
	}{
		{"--decision-timeout", s.DecisionTimeout, 0},
		{"--heartbeat", s.Heartbeat, leastHeartbeat},
		{"--heavy-reads-wait", s.HeavyReadsWait, 0},
		{"--image-expiration", s.ImageExpiration, time.Second},
		{"--image-token-life", s.ImageTokenLife, 0},
		{"--oidc-clock-skew", s.Skew, 0},
		{"--oidc-session", s.Session, time.Second},
		{"--sources-interval", s.SourcesInterval, time.Second},
	} {
		if d.given < d.least {
			wrong = append(wrong, fmt.Errorf("read %s: require a duration of at least %s, found %s", d.flag, d.least, d.given))
		}
	}
	return errors.Join(wrong...)
}

// Operators say what operators require.
type Operators struct {
	NVIDIARequireGPU bool `name:"nvidia-require-gpu" default:"true" negatable:"" env:"NVIDIA_REQUIRE_GPU" help:"The operator nvidia-gpu requires a host with such a GPU."`
	AMDRequireGPU    bool `name:"amd-require-gpu" default:"true" negatable:"" env:"AMD_REQUIRE_GPU" help:"The operator amd-gpu requires a host with such a GPU."`
}

// Releases say what can be installed, and where more of it is found.
type Releases struct {
	ReleaseImages   string        `env:"RELEASE_IMAGES" help:"OpenShift releases to install, a JSON list; by default the releases of slipway versions update, or the shipped ones." placeholder:"JSON"`
	AnyReleaseImage bool          `env:"SLIPWAY_ANY_RELEASE_IMAGE" help:"Accept an ocp_release_image that is not in the list of releases."`
	OSImages        string        `name:"os-images" env:"OS_IMAGES" help:"Live images of the operating system, a JSON list; by default the images of slipway versions update, or the shipped ones, downloaded when a host needs one." placeholder:"JSON"`
	ReleaseSources  string        `env:"RELEASE_SOURCES" help:"Channels of the update service whose releases are offered too, a JSON list; [] for none. By default the shipped list, unless RELEASE_IMAGES is set." placeholder:"JSON"`
	UpdateService   string        `default:"https://api.openshift.com" env:"OCM_BASE_URL" help:"Address of the update service."`
	LifeCycles      string        `default:"https://access.redhat.com/product-life-cycles/api/v1/products" env:"RED_HAT_PRODUCT_LIFE_CYCLE_DATA_API_BASE_URL" help:"Address of the product life cycles: support levels of releases found."`
	SourcesInterval time.Duration `default:"30m" env:"OPENSHIFT_RELEASE_SYNCER_INTERVAL" help:"How often release sources are read."`
	BaseDNSDomains  string        `name:"base-dns-domains" env:"BASE_DNS_DOMAINS" help:"DNS domains offered to clusters, domain:id/route53 separated by commas." placeholder:"DOMAINS"`
}

// Deployment says what every host and cluster of this service gets.
type Deployment struct {
	MirrorRegistries     string   `name:"mirror-registries" env:"SLIPWAY_MIRROR_REGISTRIES" type:"path" help:"File with the mirrors of registries for all hosts and clusters, a registries.conf of version 2." placeholder:"FILE"`
	MirrorCA             string   `name:"mirror-ca" env:"SLIPWAY_MIRROR_CA" type:"path" help:"File with the certificates of the mirrors, PEM." placeholder:"FILE"`
	RootCA               string   `name:"root-ca" env:"SLIPWAY_ROOT_CA" type:"path" help:"File with more certificates that all hosts and clusters trust, PEM." placeholder:"FILE"`
	InsecurePolicy       bool     `name:"insecure-policy" env:"FORCE_INSECURE_POLICY_JSON" help:"Hosts in discovery run images without signatures."`
	OKDPackages          string   `name:"okd-packages" env:"OKD_RPMS_IMAGE" help:"Image with the packages that hosts of an OKD release lack." placeholder:"IMAGE"`
	SingleNodeDNS        bool     `name:"single-node-dns" env:"ENABLE_SINGLE_NODE_DNSMASQ" default:"true" negatable:"" help:"Single nodes answer for the names of their own cluster; without, the DNS of the user must."`
	InstallerEnvironment []string `name:"installer-env" env:"INSTALLER_ENVIRONMENT" sep:";" help:"Variables for the OpenShift installer of every cluster, separated by semicolons." placeholder:"KEY=VALUE"`
	InstallerUser        string   `name:"installer-user" default:"2002000000-2002000063" env:"INSTALLER_USER" help:"Who the OpenShift installer runs as where the service runs as root: FIRST-LAST, ids without accounts, of which each run has one; UID or UID:GID for all; 0: as the service." placeholder:"UIDS"`
	InstallerSandbox     string   `name:"installer-sandbox" default:"best-effort" enum:"required,best-effort,off" env:"INSTALLER_SANDBOX" help:"Run the OpenShift installer in a sandbox with its folder only: required, best-effort (where the machine makes one), or off."`
	InstallerPaths       []string `name:"installer-paths" env:"INSTALLER_PATHS" sep:":" help:"More files and folders that the OpenShift installer may read in its sandbox, separated by colons." placeholder:"PATH"`
	Signatures           string   `name:"release-signatures" env:"RELEASE_SIGNATURES" help:"What follows from a release without a good signature: off (nothing is verified), warn, or require (it is not installed); by default require where keys are given, else off." placeholder:"POLICY"`
	SignatureKeys        []string `name:"release-signature-keys" env:"RELEASE_SIGNATURE_KEYS" help:"Files with the OpenPGP public keys, armored, that releases are signed by." placeholder:"FILE"`
	SignatureStores      []string `name:"release-signature-stores" env:"RELEASE_SIGNATURE_STORES" help:"Where OpenPGP signatures of releases are: https://, http:// or, of a folder, file://; asked in this order." placeholder:"URL"`
	CosignKeys           []string `name:"release-cosign-keys" env:"RELEASE_COSIGN_KEYS" help:"Files with the cosign public keys, PEM, that releases are signed by; the signatures are beside the release in its registry." placeholder:"FILE"`
	TelemeterURL         string   `name:"telemeter-url" env:"SLIPWAY_TELEMETER_URL" help:"Where new clusters send telemetry, instead of Red Hat." placeholder:"URL"`
}

// Keys are the key pair of tokens.
type Keys struct {
	PrivateKey model.Secret `env:"EC_PRIVATE_KEY_PEM" help:"Key that signs tokens (P-256), PEM or base64 of it; better in the environment. By default one in the data folder." placeholder:"PEM"`
	PublicKey  string       `env:"EC_PUBLIC_KEY_PEM" help:"Key that tokens are checked with, PEM or base64 of it." placeholder:"PEM"`
}

// OIDC are the settings of AUTH_TYPE=oidc.
type OIDC struct {
	Issuer       string        `name:"oidc-issuer" env:"OIDC_ISSUER_URL" help:"Issuer of OpenID Connect that identifies users." placeholder:"URL"`
	ClientID     string        `name:"oidc-client-id" env:"OIDC_CLIENT_ID" help:"Name of this service at the issuer: tokens of users are for it." placeholder:"ID"`
	ClientSecret model.Secret  `name:"oidc-client-secret" env:"OIDC_CLIENT_SECRET" help:"Secret of that client, if it has one; better in the environment."`
	CLIClientID  string        `name:"oidc-cli-client-id" env:"OIDC_CLI_CLIENT_ID" help:"Public client that slipway login signs in with (device flow); by default the same." placeholder:"ID"`
	Audiences    []string      `name:"oidc-audiences" env:"OIDC_AUDIENCES" help:"More audiences of tokens that are accepted." placeholder:"ID"`
	Scopes       []string      `name:"oidc-scopes" default:"openid,profile,email" env:"OIDC_SCOPES" help:"Scopes to ask for."`
	UserClaim    string        `name:"oidc-user-claim" default:"preferred_username" env:"OIDC_USER_CLAIM" help:"Claim with the name of the user."`
	UserPrefix   string        `name:"oidc-user-prefix" default:"oidc:" env:"OIDC_USER_PREFIX" help:"What comes before names of the issuer, to tell them from others; - for nothing."`
	OrgClaim     string        `name:"oidc-org-claim" env:"OIDC_ORG_CLAIM" help:"Claim with the organization of the user; by default users have none." placeholder:"CLAIM"`
	RolesClaim   string        `name:"oidc-roles-claim" default:"groups" env:"OIDC_ROLES_CLAIM" help:"Claim whose values give roles: a text or a list; with dots if it is inside of another, such as realm_access.roles."`
	Admins       []string      `name:"oidc-admin-roles" env:"OIDC_ADMIN_ROLES" help:"Values of that claim that give the role admin; * gives it to every user of the issuer." placeholder:"VALUE"`
	Users        []string      `name:"oidc-user-roles" env:"OIDC_USER_ROLES" help:"Those that give the role user." placeholder:"VALUE"`
	Viewers      []string      `name:"oidc-viewer-roles" env:"OIDC_VIEWER_ROLES" help:"Those that give the role viewer." placeholder:"VALUE"`
	CAFile       string        `name:"oidc-ca-file" env:"OIDC_CA_FILE" type:"path" help:"Certificates, PEM, that the issuer is verified with, beside the system's certificates." placeholder:"FILE"`
	Skew         time.Duration `name:"oidc-clock-skew" default:"1m" env:"OIDC_CLOCK_SKEW" help:"How far the issuer's clock may be off."`
	Session      time.Duration `name:"oidc-session" default:"12h" env:"OIDC_SESSION" help:"How long a user who signed in needs not sign in again."`
}

// CLIClient returns the client that programs without a browser use.
func (o OIDC) CLIClient() string { return cmp.Or(o.CLIClientID, o.ClientID) }

// SSO are the settings of AUTH_TYPE=rhsso.
type SSO struct {
	KeysURL string   `name:"jwks-url" env:"JWKS_URL" help:"Address of the keys that sign tokens of Red Hat's single sign-on, https://." placeholder:"URL"`
	Keys    string   `name:"jwks" env:"JWKS_CERT" help:"These keys as a text (JWKS, JSON), in place of their address." placeholder:"JSON"`
	KeysCA  string   `name:"jwks-ca-file" env:"JWKS_CA_FILE" type:"path" help:"Certificates, PEM, that the address is verified with, beside the system's certificates." placeholder:"FILE"`
	Admins  []string `name:"sso-admins" env:"ADMIN_USERS" help:"Names of users with the role admin; all others have the role user." placeholder:"NAME"`
	Tenancy bool     `name:"sso-org-tenancy" env:"ENABLE_ORG_TENANCY" help:"Users share the objects of their organization, the claim org_id."`
}

// Auth says how callers prove who they are.
type Auth struct {
	Keys
	OIDC
	SSO
	AuthType        string        `name:"auth-type" default:"local" enum:"none,local,oidc,rhsso,agent-installer-local" env:"AUTH_TYPE" help:"How callers prove who they are: none, local, oidc, rhsso or agent-installer-local."`
	InsecureOpen    bool          `name:"insecure-open" env:"SLIPWAY_INSECURE_OPEN" help:"With AUTH_TYPE=none, serve everybody who reaches an address that is not loopback."`
	AgentTokens     string        `name:"agent-tokens" default:"host" enum:"host,infra-env" env:"AGENT_TOKENS" help:"What agents prove themselves with where AUTH_TYPE is local: host, a token of each host that its registration gives it; infra-env, one for all hosts of an InfraEnv, for agents of other implementations."`
	ImageExpiration time.Duration `default:"4h" env:"IMAGE_EXPIRATION_TIME" help:"How long the address of a discovery image is good where it is signed."`
	ImageTokenLife  time.Duration `default:"720h" env:"SLIPWAY_IMAGE_TOKEN_LIFE" help:"How long machines register with a discovery image, from its download on; 0s: until its key is replaced."`
	ImageServiceURL string        `env:"IMAGE_SERVICE_BASE_URL" help:"Address that discovery images are offered at; by default the address of the API." placeholder:"URL"`
}

// Connections bound what a listener holds open.
type Connections struct {
	Max        int `name:"max-connections" default:"20000" env:"SLIPWAY_MAX_CONNECTIONS" help:"How many connections may be open; others are closed as they come."`
	PerAddress int `name:"connections-per-address" default:"6000" env:"SLIPWAY_CONNECTIONS_PER_ADDRESS" help:"How many of them one client may open, an IPv4 address or an IPv6 network /64; a host needs two. Loopback, where proxies are, may open all."`
}

// OwnDescriptors are open files of a service beside connections of clients: of its data, the database and Temporal.
const OwnDescriptors = 500

// Bounds returns these limits for the listeners of a process. There are fewer connections than the process may have open files: without a
// file it accepts no connection, and cannot say so.
func (c Connections) Bounds(log *slog.Logger, now func() time.Time) *guard.Connections {
	total := c.Max
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		total = c.fitting(files.Cur)
	}
	if total < c.Max {
		log.Warn("fewer connections than --max-connections: raise the limit of open files (LimitNOFILE of the unit, ulimit -n)",
			"max_connections", c.Max, "open_files", files.Cur, "connections", total)
	}
	return &guard.Connections{Total: total, PerAddress: c.PerAddress, Log: log, Now: now}
}

// fitting returns how many connections a process with a limit of open files has: at least half of it.
func (c Connections) fitting(files uint64) int {
	most := max(files/2, files-min(files, OwnDescriptors))
	if c.Max > 0 && uint64(c.Max) <= most {
		return c.Max
	}
	return int(min(most, math.MaxInt32)) //nolint:gosec // bounded
}

// TLS says how the listener speaks HTTPS.
type TLS struct {
	PlainHTTP      bool     `name:"plain-http" env:"SLIPWAY_PLAIN_HTTP" help:"Serve HTTP instead of HTTPS: for a proxy in front that ends TLS."`
	TLSCert        string   `name:"tls-cert" env:"HTTPS_CERT_FILE" type:"path" help:"Certificate of --listen, PEM, with the certificates that signed it; read again when it changes. By default the service's own authority signs one." placeholder:"FILE"`
	TLSKey         string   `name:"tls-key" env:"HTTPS_KEY_FILE" type:"path" help:"Key of the certificate, PEM." placeholder:"FILE"`
	ACMEDirectory  string   `name:"acme-directory" env:"SLIPWAY_ACME_DIRECTORY" help:"Directory of an ACME server, https://...: the certificate for the name in --base-url comes from there, and using it accepts its terms. The server connects to that name at port 443, which has to lead to --listen." placeholder:"URL"`
	ACMECAFile     string   `name:"acme-ca-file" env:"SLIPWAY_ACME_CA_FILE" type:"path" help:"Certificates, PEM, that the ACME server is verified with, instead of the system's." placeholder:"FILE"`
	ACMEEmail      string   `name:"acme-email" env:"SLIPWAY_ACME_EMAIL" help:"Address of mail for the account at the ACME server." placeholder:"ADDRESS"`
	HTTPPort       int      `name:"http-port" env:"SLIPWAY_HTTP_PORT" help:"Port without TLS at the address of --listen, for network boot alone: iPXE scripts, kernel, initrd and root file system. iPXE does not trust the service's own authority." placeholder:"PORT"`
	AllowedHosts   []string `name:"allowed-hosts" env:"SLIPWAY_ALLOWED_HOSTS" help:"More names that requests may call the service by, beside the names of --base-url, --listen and this machine." placeholder:"NAME"`
	AllowedOrigins []string `name:"allowed-origins" env:"SLIPWAY_ALLOWED_ORIGINS" help:"Other web sites whose pages may change something, such as https://console.example.com." placeholder:"URL"`
	ServiceCA      string   `name:"service-ca" env:"SLIPWAY_SERVICE_CA" type:"path" help:"Certificates, PEM, that hosts and new clusters trust for the address of the service; by default the service's own authority, and with --tls-cert or --plain-http the certificates of their system." placeholder:"FILE"`
}

// Scheme returns the scheme of the listener's address.
func (t TLS) Scheme() string {
	if t.PlainHTTP {
		return "http"
	}
	return "https"
}

// WebAddress reads the http or https address that the setting name holds.
func WebAddress(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("read %s: require an address that begins with http:// or https://, found %q", name, text)
	}
	return u, nil
}
