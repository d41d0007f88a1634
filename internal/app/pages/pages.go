// Package pages serves web pages that show users their own installations. A page asks the API of the same process, with the token of its
// visitor: it shows what the API answers to that user, and nothing else.
package pages

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/model"
)

// Path is where the pages are.
const Path = "/installations"

// clustersOfPage is how many clusters a page lists.
const clustersOfPage = 50

// Options configure the pages.
type Options struct {
	// API answers the operations of api/slipway.yaml.
	API http.Handler
	// Token returns the token of a visitor; empty where users have none.
	Token func(*http.Request) model.Secret
	// SignOut is where a visitor signs out; empty: users do not sign in.
	SignOut string
	Log     *slog.Logger
}

type server struct{ Options }

// New returns the pages: a list of clusters at Path, and below it a page of each.
func New(o Options) http.Handler {
	s := &server{o}
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.RedirectHandler(Path+"/", http.StatusFound))
	mux.HandleFunc("GET "+Path+"/{$}", s.list)
	mux.HandleFunc("GET "+Path+"/{cluster}", s.show)
	mux.HandleFunc("/", s.notFound)
	return mux
}

func (s *server) client(r *http.Request) *client.Client {
	return client.New(client.Options{
		BaseURL: "http://" + r.Host, UserToken: s.Token(r), UserAgent: "slipway-pages",
		HTTPClient: &http.Client{Transport: inProcess{s.API, r}},
	})
}

// list shows a page of clusters, newest first.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	offset := offsetOf(r, "from")
	found, err := s.client(r).Installations(r.Context(), clustersOfPage, offset)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, http.StatusOK, "list", view{Title: "Installations", Offset: offset, List: found})
}

// show shows the timeline of a cluster.
func (s *server) show(w http.ResponseWriter, r *http.Request) {
	id, err := uuid.Parse(r.PathValue("cluster"))
	if err != nil {
		s.notFound(w, r)
		return
	}
	events, hosts := offsetOf(r, "events"), offsetOf(r, "hosts")
	found, err := s.client(r).Timeline(r.Context(), id, events, hosts)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, http.StatusOK, "cluster", view{Title: found.Name, Events: events, Hosts: hosts, Cluster: found})
}

// offsetOf reads where a page begins; the first one where the address says nothing that can be read.
func offsetOf(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (s *server) notFound(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusNotFound, "failure", view{Title: "Not found", Reason: "There is no such installation, or it is not yours."})
}

// fail shows why the API refused.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		s.notFound(w, r)
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError:
		if pause := client.RetryAfter(err); pause > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(pause.Seconds())))
		}
		s.write(w, refused.Status, "failure", view{Title: "Refused", Reason: refused.Reason})
	default:
		s.Log.ErrorContext(r.Context(), "page not shown", "path", r.URL.Path, "error", err)
		s.write(w, http.StatusServiceUnavailable, "failure", view{Title: "Not available", Reason: "The service cannot answer now: try again."})
	}
}

// write writes a page. It runs no scripts, loads nothing and is framed by no other page.
func (s *server) write(w http.ResponseWriter, status int, name string, v view) {
	v.Path, v.SignOut = Path, s.SignOut
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, v); err != nil {
		s.Log.Error("page not rendered", "page", name, "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "style-src 'unsafe-inline'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
	}, "; "))
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser has left
}
