package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/singleflight"

	"slipway/api/admission"
	"slipway/internal/images/imageurl"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/fair"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// server answers the operations of the API.
type server struct {
	Options
	gate     *admission.Gate
	document *admission.Document
	own      *admission.Document // of the commands beyond the v2 API
	agents   *programFiles
	// controllers are the programs that new clusters fetch.
	controllers *programFiles
	images      *imageurl.Maker
	started     time.Time

	disconnected singleflight.Group // runs of the installer, by their settings
	networks     networks           // settings that were read
	polls, waits *admission.Bounded // that are held: of hosts, and for changes
	making       *fair.Turns        // of long answers
}

// NewServer builds the handler of everything below wire.BasePath, OwnPath, /agent/ and /controller/. It
// panics when a document built into the program cannot be read.
func NewServer(o Options) http.Handler {
	o = o.withDefaults()
	read := closedDocuments
	if o.Identity.Open() {
		read = openDocuments
	}
	docs, err := read()
	if err != nil {
		panic(err) // embedded files, held by a test
	}
	s := &server{
		Options: o, document: docs.v2, own: docs.own, started: o.Now(), making: fair.NewTurns(),
		agents: newProgramFiles(o.AgentBinaries, agentProgram), controllers: newProgramFiles(o.AgentBinaries, controllerProgram),
		polls: admission.NewBounded(o.Limits.HeldPolls, "polls of one host are held"),
		waits: admission.NewBounded(o.Limits.HeldChanges, "requests wait for changes with one credential"),
	}
	s.images = imageurl.New(imageurl.Options{
		Identity: o.Identity, Releases: o.Releases, BaseURL: o.BaseURL, ImageServiceURL: o.ImageServiceURL, BootURL: o.BootURL,
	})
	s.gate = admission.New(admission.Options{
		Documents: []*admission.Document{docs.v2, docs.own}, Identity: o.Identity, Store: o.Store, Authorize: o.Authorize,
		Limits: *o.Limits, CheckSignature: s.checkSignature, Audit: audit.New(o.Store, o.Log, o.Now), Log: o.Log, Now: o.Now,
		Observe: o.Observe,
	})
	return s.gate.Observe(httpapi.CleanPaths(s.routes()))
}

func (s *server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(httpapi.Handler(func(_ http.ResponseWriter, r *http.Request) error {
		return model.NotFoundf("no such address: %s", r.URL.Path)
	}).ServeHTTP)
	r.MethodNotAllowed(s.refuseMethod(r))
	r.Get(wire.BasePath+"/openapi", s.document.Serve)
	r.Get(wire.BasePath+"/v2/openapi", s.document.Serve)
	r.Method(http.MethodGet, agentPath+"{file}", httpapi.Handler(s.downloadAgent))
	r.Method(http.MethodGet, controllerPath+"{file}", httpapi.Handler(s.downloadController))
	s.ownRoutes(r)
	s.referenceRoutes(r)
	return HandlerWithOptions(s, ChiServerOptions{
		BaseURL: wire.BasePath, BaseRouter: r,
		Middlewares: []MiddlewareFunc{s.gate.Admit},
		ErrorHandlerFunc: func(w http.ResponseWriter, req *http.Request, err error) {
			if s.document.Fixed(req.URL.Path) && !s.document.Takes(req) {
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

// belongs reports whether a pattern may answer an address. The router tries /clusters/{cluster_id} where
// /clusters/import has no such method.
func (s *server) belongs(pattern, path string) bool {
	return pattern == path || !s.document.Fixed(path)
}
