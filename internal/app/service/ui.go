package service

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"go.temporal.io/sdk/converter"

	"slipway/internal/platform/frontend"
	"slipway/internal/platform/signin"
	"slipway/internal/service/orchestrator"
)

// codecPath is where Temporal's command line has payloads opened; the web UI has a path of its own.
const codecPath = "/temporal-codec"

// maxPayloads bounds what the web UI and the codec are sent, in bytes: a page of payloads, of which Temporal takes 2 MiB each.
const maxPayloads = 8 << 20

// mountUI puts Temporal's web UI, and what opens payloads, beside the API. They have the same visitors as the API.
func (s *Service) mountUI(routes chi.Router) error {
	pages, err := s.ui(false)
	if err != nil {
		return err
	}
	codec := s.codec(false)
	if !s.identity.Open() {
		readOnly, err := s.ui(true)
		if err != nil {
			return err
		}
		options := signin.Options{
			Path: frontend.UIPath, BaseURL: s.options.BaseURL, Identity: s.identity, Sealer: s.sealer, Secure: s.secure(), Log: s.logger,
			Now: s.process.Now,
		}
		if s.signIn != nil {
			options.Issuer = s.signIn
		}
		gate := signin.New(options)
		pages, codec = gate.Pages(pages, readOnly), gate.Tokens(codec, s.codec(true))
	}
	routes.Mount(frontend.UIPath, http.MaxBytesHandler(pages, maxPayloads))
	routes.Mount(codecPath, http.MaxBytesHandler(codec, maxPayloads))
	return nil
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
