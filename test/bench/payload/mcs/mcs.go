// Package mcs is the machine config server of a bench cluster: hosts fetch the config of
// their role from it when they start from their disks.
package mcs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/plan"
)

// Ports are where the configs are served, with TLS and without.
const (
	Port      = 22623
	PlainPort = 22624
)

// Server serves the configs. It follows openshift/machine-config-operator, pkg/server/api.go and bootstrap_server.go:
// what it answers, refuses and logs, and how it chooses a version.
type Server struct {
	Plan *plan.Cluster
	Keys pki.Keys
	// Bootstrap is the server of a bootstrap host, which serves masters (and arbiters) only. Others know all pools.
	Bootstrap bool
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

// Handler answers GET and HEAD of /config/POOL and /healthz. Errors have no body.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pool, isConfig := strings.CutPrefix(r.URL.Path, "/config/")
		isConfig = isConfig && pool != ""
		switch {
		case !isConfig && r.URL.Path != "/healthz":
			refuse(w, http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			refuse(w, http.StatusMethodNotAllowed)
		case isConfig:
			s.config(w, r, path.Base(pool))
		default:
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusOK)
		}
	})
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}

func (s *Server) config(w http.ResponseWriter, r *http.Request, pool string) {
	accept := r.Header.Get("Accept")
	s.note(fmt.Sprintf("Pool %q requested by address:%q User-Agent:%q Accept-Header: %q", pool, r.RemoteAddr, r.UserAgent(), accept))
	version, known := negotiate(accept)
	if !known {
		refuse(w, http.StatusBadRequest)
		return
	}
	if reason := s.refusal(pool); reason != "" {
		s.note(reason)
		refuse(w, http.StatusInternalServerError)
		return
	}
	config, err := s.render(r.Context(), pool)
	if err == nil {
		config, err = as(config, version)
	}
	if err != nil {
		// Ignition asks again after an answer of this kind.
		s.Log.Error("config not made", "pool", pool, "error", err)
		s.note("couldn't get config for req: " + pool)
		refuse(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(config)))
	_, _ = w.Write(config) // net/http leaves it out for HEAD
}

// refusal is what the log says of a pool that is not served.
func (s *Server) refusal(pool string) string {
	switch {
	case s.Bootstrap && pool != plan.Master:
		return fmt.Sprintf("refusing to serve bootstrap configuration to pool %q", pool)
	case pool != plan.Master && pool != plan.Worker:
		return fmt.Sprintf("could not fetch pool %q", pool)
	}
	return ""
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

// note writes a line of the server's log, inside that of a container's (CRI).
func (s *Server) note(text string) {
	s.lines.Lock()
	defer s.lines.Unlock()
	now := s.Now().UTC()
	_, err := fmt.Fprintf(s.Fetches, "%s stderr F I%s       1 api.go:137] %s\n",
		now.Format(time.RFC3339Nano), now.Format("0102 15:04:05.000000"), text)
	if err != nil {
		s.Log.Error("log not written", "error", err)
	}
}
