package api

import (
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"slipway/api/admission"
	"slipway/internal/cluster/openshift"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/quota"
)

// Options configure the API.
type Options struct {
	Service
	Catalogue
	Deployment
}

// Service holds what the operations work with. Store, Blob, Discovery, Evaluation, HostReports, ClusterReports,
// Orchestrator, Log and Now are required.
type Service struct {
	Store          *store.Store
	Blob           *blob.Store
	Discovery      Discovery
	Evaluation     Evaluation
	HostReports    HostReports
	ClusterReports ClusterReports
	Orchestrator   Orchestrator
	// Disconnected makes configs of disconnected images; nil: the deployment has none.
	Disconnected Disconnected

	// Identity finds the caller of a request; nil: auth.None, which accepts every request.
	Identity Identity
	// SignIn lets users of an issuer in; nil: the deployment has no issuer.
	SignIn SignIn
	// Feed wakes requests that wait for changes; nil: they are answered at once.
	Feed Feed
	// Authorize decides whether an actor may do an operation; nil: an actor that is bound to one object may use that
	// object, and any other actor may do everything.
	Authorize admission.Authorize
	// Quota bounds how many bytes are kept from hosts; nil: any number.
	Quota *quota.Quota
	// Limits bound what callers ask for; nil: admission.DefaultLimits.
	Limits *admission.Limits

	Log *slog.Logger
	Now func() time.Time
	// Observe receives every answer to an operation: its id, the status code, how long it took, and whether the client
	// asked to wait; nil: none.
	Observe func(operation, code string, took time.Duration, held bool)
}

// Catalogue holds what can be installed, and with which requirements.
type Catalogue struct {
	// Releases are the available OpenShift versions; nil: openshift.DefaultReleases. ReleaseSources are where more are
	// looked for.
	Releases       *openshift.Catalogue
	ReleaseSources []openshift.ReleaseSource
	// AnyReleaseImage accepts release images of users that are not in Releases.
	AnyReleaseImage bool
	// OSImages returns the current live ISOs that discovery images are made from; nil: none.
	OSImages func() openshift.OSImages
	// Domains are DNS domains whose records are kept for clusters.
	Domains []openshift.ManagedDomain
	// Requirements are the hardware requirements; nil: openshift.DefaultRequirements.
	Requirements *openshift.Requirements
	// PublicRegistries need no entry in a pull secret.
	PublicRegistries []string
	// Mirrors returns the names of an image at the mirrors of the deployment; nil: there are none.
	Mirrors func(image string) []string
}

// Deployment holds the settings of one deployment of the service.
type Deployment struct {
	// BaseURL is the address where hosts and users reach the service, without /api: "http://192.0.2.1:8090".
	BaseURL string
	// ServiceCA (PEM) signed the certificate of an https BaseURL; Insecure makes agents accept any certificate.
	ServiceCA string
	Insecure  bool
	// ImageServiceURL is the address of the image service; empty: BaseURL.
	ImageServiceURL string
	// BootURL is the address of the service for iPXE, which trusts public authorities only; empty: BaseURL.
	BootURL string

	// InstallConfig are the mirrors and certificates that every cluster gets.
	InstallConfig installconfig.Options
	// Ignition is part of every host's discovery config.
	Ignition ignition.Deployment

	// Version is the version of the service; ComponentVersions are the versions of its parts, by the names clients know
	// ("discovery-agent").
	Version           string
	ComponentVersions map[string]string
	// AgentVersion is the version that agents of the discovery images report. AgentBinaries is the folder with
	// slipway-agent-<architecture> and slipway-controller-<architecture>, served below /agent/ and /controller/.
	AgentVersion  string
	AgentBinaries fs.FS
	// ProgramKey returns the key that verifies the programs agents become, in base64; nil: hosts get none.
	ProgramKey func() string
	// ForeignAgent is the version that other agents have to run; empty: the one they report.
	ForeignAgent string

	// SigningKey signs addresses of single files, 32 bytes; the same in every process that serves the API. Empty: a
	// random key of this process.
	SigningKey []byte
	// InactiveAfter is when unused clusters are deleted; zero: 480 hours.
	InactiveAfter time.Duration
	// DeletedAfter is how long deleted clusters can be brought back.
	DeletedAfter time.Duration
}

// withDefaults fills in missing optional fields.
func (o Options) withDefaults() Options {
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	if o.Releases == nil {
		o.Releases = openshift.NewCatalogue(openshift.DefaultReleases())
	}
	if o.Requirements == nil {
		o.Requirements = openshift.DefaultRequirements()
	}
	if o.Identity == nil {
		o.Identity = auth.None{}
	}
	if o.Limits == nil {
		limits := admission.DefaultLimits()
		o.Limits = &limits
	}
	if len(o.SigningKey) == 0 {
		o.SigningKey = []byte(newTokenKey().Reveal())
	}
	return o
}
