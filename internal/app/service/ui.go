package service

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"go.temporal.io/sdk/converter"

	ownpages "slipway/internal/app/pages"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/signin"
	"slipway/internal/service/orchestrator"
	"slipway/workflows"
)

// codecPath is where Temporal's command line has payloads opened; the web UI has a path of its own.
const codecPath = "/temporal-codec"

// maxPayloads bounds what the web UI and the codec are sent, in bytes: a page of payloads, of which Temporal takes 2 MiB each.
const maxPayloads = 8 << 20

// maxForm bounds what pages of installations are sent, in bytes: they take a form without fields.
const maxForm = 64 << 10

// mountUI puts Temporal's web UI, and what opens payloads, beside the API. They have the same visitors as the API.
func (s *Service) mountUI(routes chi.Router) error {
	pages, err := s.ui(false)
	if err != nil {
		return err
	}
	trail := audit.New(s.store, s.logger, s.process.Now)
	pages = s.recordCommands(trail, pages)
	codec := s.codec(false)
	if !s.identity.Open() {
		readOnly, err := s.ui(true)
		if err != nil {
			return err
		}
		options := signin.Options{
			Path: frontend.UIPath, BaseURL: s.options.BaseURL, Identity: s.identity, Sealer: s.sealer, Secure: s.secure(), Log: s.logger,
			Now: s.process.Now, Audit: trail, Forbidden: s.recordForbidden(trail),
		}
		if s.signIn != nil {
			options.Issuer = s.signIn
		}
		gate := signin.New(options)
		s.mountOwnPages(routes, gate.Own(ownpages.Path, ownPage))
		pages, codec = gate.Pages(pages, s.recordCommands(trail, readOnly)), gate.Tokens(codec, s.codec(true))
	}
	if s.identity.Open() {
		s.mountOwnPages(routes, nil)
	}
	s.redirectToWorkflows(routes)
	routes.Mount(frontend.UIPath, http.MaxBytesHandler(pages, maxPayloads))
	routes.Mount(codecPath, http.MaxBytesHandler(codec, maxPayloads))
	return nil
}

// mountOwnPages puts the pages of installations beside the API that they ask. They are for users whom Temporal's web UI is closed to too,
// because they show nothing that the API does not show the same user. A gate of nil lets everybody in, as the API does then.
func (s *Service) mountOwnPages(routes chi.Router, gate *signin.Gate) {
	options := ownpages.Options{API: routes, Token: signin.TokenOf, Log: s.logger}
	if gate == nil {
		routes.Mount(ownpages.Path, ownpages.New(options))
		return
	}
	options.SignOut = gate.SignOutPath()
	shown := ownpages.New(options)
	routes.Mount(ownpages.Path, http.MaxBytesHandler(gate.Pages(shown, shown), maxForm))
}

// ownPage returns the page of the installation that a page of Temporal's web UI shows the workflow of; empty for another page.
func ownPage(path string) string {
	_, after, found := strings.Cut(path, "/workflows/"+strings.TrimSuffix(workflows.ClusterWorkflowID(uuid.Nil), uuid.Nil.String()))
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(after, "/")
	id, err := uuid.Parse(text)
	if err != nil {
		return ""
	}
	return ownpages.Path + "/" + id.String()
}

// redirectToWorkflows leads from a cluster or a host to the page of the workflow that installs it. Programs that keep such an address, as
// the controllers of Kubernetes do in a status, need neither the namespace nor the ids of workflows.
func (s *Service) redirectToWorkflows(routes chi.Router) {
	ids := func(r *http.Request, parameters ...string) (ids [2]uuid.UUID, ok bool) {
		for n, parameter := range parameters {
			id, err := uuid.Parse(chi.URLParam(r, parameter))
			if err != nil {
				return ids, false
			}
			ids[n] = id
		}
		return ids, true
	}
	redirect := func(w http.ResponseWriter, r *http.Request, workflow string, ok bool) {
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, frontend.UIPath+"/namespaces/"+url.PathEscape(s.Temporal.Options.Namespace)+"/workflows/"+workflow, http.StatusFound)
	}
	routes.Get(frontend.UIPath+"/clusters/{cluster}", func(w http.ResponseWriter, r *http.Request) {
		id, ok := ids(r, "cluster")
		redirect(w, r, workflows.ClusterWorkflowID(id[0]), ok)
	})
	routes.Get(frontend.UIPath+"/infra-envs/{infraEnv}/hosts/{host}", func(w http.ResponseWriter, r *http.Request) {
		id, ok := ids(r, "infraEnv", "host")
		redirect(w, r, workflows.HostWorkflowID(id[0], id[1]), ok)
	})
}

// ui returns the pages; what a page needs to change a workflow is missing in those to read only.
func (s *Service) ui(readOnly bool) (http.Handler, error) {
	return frontend.UI(frontend.UIOptions{
		Frontend: s.Temporal, InsecureCookies: !s.secure(), Codec: s.codec(readOnly), ReadOnly: readOnly,
	})
}

// secure reports whether browsers come over TLS.
func (s *Service) secure() bool { return strings.HasPrefix(s.options.BaseURL, "https://") }

// codec opens payloads for the web UI and the command line, and seals them where the caller may change something.
// Payloads hold no secrets, only names and references.
func (s *Service) codec(readOnly bool) http.Handler {
	codec := converter.NewPayloadCodecHTTPHandler(orchestrator.Codec{Sealer: s.sealer})
	if !readOnly {
		return codec
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/decode") {
			http.Error(w, "require a token that is not read-only", http.StatusForbidden)
			return
		}
		codec.ServeHTTP(w, r)
	})
}

// UIAddress says where Temporal's pages are.
func (s *Service) UIAddress() string { return "Temporal UI " + s.options.BaseURL + frontend.UIPath }

// CodecAddress returns the address where Temporal's command line has payloads opened.
func (s *Service) CodecAddress() string { return s.options.BaseURL + codecPath }
