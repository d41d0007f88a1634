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

	"slipway/internal/blob"
	"slipway/internal/model"
	"slipway/internal/store"
	"slipway/internal/support"
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

	// Releases are the OpenShift versions on offer; empty: support.DefaultReleases.
	Releases support.Releases
	// Requirements are the hardware requirements; nil: those shipped.
	Requirements *support.Requirements
	// PublicRegistries need no entry in a pull secret. Empty: no registry does.
	PublicRegistries []string

	// Version is the version of the service; ComponentVersions are those of its parts,
	// by the names clients know ("discovery-agent").
	Version           string
	ComponentVersions map[string]string

	// AgentVersion is what agents of the discovery images call themselves. AgentBinaries
	// is the folder with slipway-agent-<architecture>, offered below /agent/.
	AgentVersion  string
	AgentBinaries fs.FS

	// Authorize decides whether an actor may do something; nil allows everything (mode none).
	Authorize Authorize
}

// server answers the operations of the API. Operations of the document that it does
// not have fall through to Unimplemented, which no request reaches (see notBuilt).
type server struct {
	Unimplemented
	Options
	document *document
	own      *document // of the commands that the contract does not have
	agents   *agentFiles
}

// NewServer builds the handler of everything below BasePath, OwnPath and /agent/. It
// panics when a document built into the program cannot be read.
func NewServer(o Options) http.Handler {
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	if len(o.Releases) == 0 {
		o.Releases = support.DefaultReleases()
	}
	if o.Requirements == nil {
		o.Requirements = support.DefaultRequirements()
	}
	if o.Authorize == nil {
		o.Authorize = allowAll
	}
	document, err := readDocument(openapiYAML, BasePath)
	own, oerr := readDocument(ownYAML, OwnPath)
	if err := errors.Join(err, oerr); err != nil {
		panic(err) // embedded files, held by a test
	}
	s := &server{Options: o, document: document, own: own, agents: newAgentFiles(o.AgentBinaries)}
	return s.observed(cleanPaths(s.routes()))
}

func (s *server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, model.NotFoundf("no such address: %s", r.URL.Path))
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", strings.Join(allowed(r, req.URL.Path), ", "))
		fail(w, req, errMethod(req.Method))
	})
	r.Get(BasePath+"/openapi", s.document.serve)
	r.Get(BasePath+"/v2/openapi", s.document.serve)
	r.Get("/agent/{file}", s.downloadAgent)
	s.ownRoutes(r)
	s.referenceRoutes(r)
	return HandlerWithOptions(s, ChiServerOptions{
		BaseURL: BasePath, BaseRouter: r,
		Middlewares:      []MiddlewareFunc{s.admit},
		ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) { fail(w, r, badParameter(r, err)) },
	})
}

// allowed lists the methods an address takes.
func allowed(r chi.Router, path string) []string {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := m
		if m == http.MethodHead {
			probe = http.MethodGet
		}
		if r.Match(chi.NewRouteContext(), probe, path) {
			methods = append(methods, m)
		}
	}
	return methods
}
