package api

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/singleflight"

	"slipway/internal/cluster/openshift"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/images/imageurl"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
)

// BasePath is where the API begins.
const BasePath = "/api/assisted-install"

// Options are what the API works with. Store, Blob, Discovery, Installation,
// Orchestrator, Log and Now are required.
type Options struct {
	Store        *store.Store
	Blob         *blob.Store
	Discovery    Discovery
	Installation Installation
	Orchestrator Orchestrator
	Log          *slog.Logger
	Now          func() time.Time

	// BaseURL is the address hosts and users reach the service at, without /api:
	// "http://192.0.2.1:8090".
	BaseURL string
	// ServiceCA (PEM) signed the certificate of an https BaseURL; Insecure makes agents
	// accept any certificate.
	ServiceCA string
	Insecure  bool

	// Releases are the OpenShift versions on offer; nil: openshift.DefaultReleases.
	// ReleaseSources are where more are looked for.
	Releases       *openshift.Catalogue
	ReleaseSources []openshift.ReleaseSource
	// AnyReleaseImage takes release images of users that are not on offer.
	AnyReleaseImage bool
	// OSImages are those that discovery images are made of, as it is now; nil: none.
	OSImages func() openshift.OSImages
	// Domains are DNS domains whose records are kept for clusters.
	Domains []openshift.ManagedDomain
	// Requirements are the hardware requirements; nil: those shipped.
	Requirements *openshift.Requirements
	// PublicRegistries need no entry in a pull secret. Empty: no registry does.
	PublicRegistries []string

	// InstallConfig are the mirrors and certificates that every cluster gets.
	InstallConfig installconfig.Options
	// Deployment is what every host gets when it is discovered.
	Deployment ignition.Deployment

	// Version is the version of the service; ComponentVersions are those of its parts,
	// by the names clients know ("discovery-agent").
	Version           string
	ComponentVersions map[string]string

	// AgentVersion is what agents of the discovery images call themselves. AgentBinaries
	// is the folder with slipway-agent-<architecture>, offered below /agent/.
	AgentVersion string
	// ForeignAgent is what agents of other makes have to run; empty: what they are.
	ForeignAgent  string
	AgentBinaries fs.FS

	// Observe is told of every answer to an operation: its id, the status code, how long it
	// took, and whether the client had asked to wait; nil: nobody is.
	Observe func(operation, code string, took time.Duration, held bool)

	// Identity tells who a request comes from; nil: auth.None, which takes everybody.
	Identity Identity
	// Authorize decides whether an actor may do something; nil holds actors that are bound
	// to one object to it, and lets all others do everything.
	Authorize Authorize
	// SigningKey signs addresses of single files, 32 bytes; the same in every process that
	// serves the API. Empty: one that only this process knows.
	SigningKey []byte
	// Disconnected makes configs of disconnected images; nil: there are none.
	Disconnected Disconnected
	// ImageServiceURL is where discovery images are offered; empty: BaseURL.
	ImageServiceURL string
	// InactiveAfter is when unused clusters are deleted; zero: 480 hours.
	InactiveAfter time.Duration
}

// server answers the operations of the API.
type server struct {
	Options
	document *document
	own      *document // of the commands that the contract does not have
	agents   *agentFiles
	images   *imageurl.Maker
	started  time.Time

	disconnected singleflight.Group // runs of the installer, by their settings
	networks     networks           // settings that were read
}

// NewServer builds the handler of everything below BasePath, OwnPath and /agent/. It
// panics when a document built into the program cannot be read.
func NewServer(o Options) http.Handler {
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
	if len(o.SigningKey) == 0 {
		o.SigningKey = []byte(newTokenKey().Reveal())
	}
	document, err := readDocument(openapiYAML, BasePath)
	own, oerr := readDocument(ownYAML, OwnPath)
	if err := errors.Join(err, oerr); err != nil {
		panic(err) // embedded files, held by a test
	}
	if o.Identity.Open() {
		if err := errors.Join(document.takesAnybody(), own.takesAnybody()); err != nil {
			panic(err) // the same
		}
	}
	s := &server{Options: o, document: document, own: own, agents: newAgentFiles(o.AgentBinaries), started: o.Now()}
	s.images = imageurl.New(imageurl.Options{
		Identity: o.Identity, Releases: o.Releases, BaseURL: o.BaseURL, ImageServiceURL: o.ImageServiceURL,
	})
	if s.Authorize == nil {
		s.Authorize = s.checkScope
	}
	return s.observed(httpapi.CleanPaths(s.routes()))
}

func (s *server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(httpapi.Handler(func(_ http.ResponseWriter, r *http.Request) error {
		return model.NotFoundf("no such address: %s", r.URL.Path)
	}).ServeHTTP)
	r.MethodNotAllowed(s.refuseMethod(r))
	r.Get(BasePath+"/openapi", s.document.serve)
	r.Get(BasePath+"/v2/openapi", s.document.serve)
	r.Method(http.MethodGet, agentPath+"{file}", httpapi.Handler(s.downloadAgent))
	s.ownRoutes(r)
	s.referenceRoutes(r)
	return HandlerWithOptions(s, ChiServerOptions{
		BaseURL: BasePath, BaseRouter: r,
		Middlewares: []MiddlewareFunc{s.admit},
		ErrorHandlerFunc: func(w http.ResponseWriter, req *http.Request, err error) {
			if s.document.fixed[req.URL.Path] && s.document.operations[patternMethod(req)+" "+req.URL.Path] == nil {
				s.refuseMethod(r)(w, req)
				return
			}
			httpapi.Fail(w, req, badParameter(req, err))
		},
	})
}

// refuseMethod answers a request whose method the address does not take.
func (s *server) refuseMethod(r chi.Router) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", strings.Join(s.allowed(r, req.URL.Path), ", "))
		httpapi.Fail(w, req, httpapi.NoMethod(req.Method))
	}
}

// allowed lists the methods an address takes.
func (s *server) allowed(r chi.Router, path string) []string {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := m
		if m == http.MethodHead {
			probe = http.MethodGet
		}
		found := chi.NewRouteContext()
		if r.Match(found, probe, path) && s.belongs(found.RoutePattern(), path) {
			methods = append(methods, m)
		}
	}
	return methods
}

// belongs tells whether a pattern may answer for an address. The router tries
// /clusters/{cluster_id} where /clusters/import has no such method.
func (s *server) belongs(pattern, path string) bool {
	return pattern == path || !s.document.fixed[path]
}
