// Package mcs is the machine config server of a bench cluster: hosts fetch the config of
// their role from it when they start from their disks.
package mcs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/plan"
)

// Port is where the configs are served.
const Port = 22623

// Server serves the configs.
type Server struct {
	Plan *plan.Cluster
	Keys pki.Keys
	// Objects finds the machine configs: the manifests on the bootstrap host, those of the
	// cluster on masters.
	Objects func(context.Context) ([]*unstructured.Unstructured, error)
	// Fetches takes a line for each request, as the container of a real server writes it:
	// installers read there who fetched what.
	Fetches io.Writer
	Log     *slog.Logger
	Now     func() time.Time

	lines sync.Mutex
}

// Handler answers GET and HEAD of /config/ROLE.
func (s *Server) Handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /config/{role}", s.config)
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return routes
}

func (s *Server) config(w http.ResponseWriter, r *http.Request) {
	role := r.PathValue("role")
	s.note(role, r)
	if role != plan.Master && role != plan.Worker {
		http.NotFound(w, r)
		return
	}
	config, err := s.render(r.Context(), role)
	if err != nil {
		// Ignition asks again after an answer of this kind.
		s.Log.Error("config not made", "role", role, "error", err)
		http.Error(w, "config not made", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(config)))
	_, _ = w.Write(config)
}

func (s *Server) render(ctx context.Context, role string) ([]byte, error) {
	objects, err := s.Objects(ctx)
	if err != nil {
		return nil, err
	}
	machineConfigs, err := configs.MachineConfigs(objects, role)
	if err != nil {
		return nil, err
	}
	config, err := configs.Node(s.Plan, role, s.Keys, nil)
	if err != nil {
		return nil, err
	}
	return configs.Merge(config, machineConfigs)
}

// note writes who asked, in the form of the machine config server's log, inside that of a
// container's.
func (s *Server) note(role string, r *http.Request) {
	s.lines.Lock()
	defer s.lines.Unlock()
	now := s.Now().UTC()
	_, err := fmt.Fprintf(s.Fetches, "%s stderr F I%s       1 api.go:65] Pool %s requested by address:%q User-Agent:%q Accept-Header: %q\n",
		now.Format(time.RFC3339Nano), now.Format("0102 15:04:05.000000"), clean(role), r.RemoteAddr, r.UserAgent(), r.Header.Get("Accept"))
	if err != nil {
		s.Log.Error("fetch not noted", "error", err)
	}
}

func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, text)
}
