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
	// Objects finds the machine configs: the manifests on the bootstrap host, the cluster's machine configs on masters.
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
	s.note("I", "api.go:126", fmt.Sprintf(
		"Pool %q requested by address:%q User-Agent:%q Accept-Header: %q", pool, r.RemoteAddr, r.UserAgent(), accept))
	version, known := negotiate(accept)
	if !known {
		refuse(w, http.StatusBadRequest)
		return
	}
	if s.Bootstrap && pool == arbiter {
		// A bootstrap server knows the pool by its name, and has no file of it where there are no arbiters.
		s.note("I", "bootstrap_server.go:70", `reading file "(input)"`)
		s.note("E", "bootstrap_server.go:73", "could not find file: (input)")
		refuse(w, http.StatusNotFound)
		return
	}
	if reason := s.refusal(pool); reason != "" {
		s.refused(w, pool, reason)
		return
	}
	config, err := s.render(r.Context(), pool)
	if err != nil {
		s.Log.Error("config not made", "pool", pool, "error", err)
		s.refused(w, pool, err.Error()) // Ignition asks again
		return
	}
	if config, err = as(config, version); err != nil {
		s.note("E", "api.go:158", fmt.Sprintf("couldn't convert config for req: {%s 0xc000000000}, error: %v", pool, err))
		refuse(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(config)))
	_, _ = w.Write(config) // net/http leaves it out for HEAD
}

// arbiter is the pool that bootstrap servers serve beside masters.
const arbiter = "arbiter"

// refused answers that a pool has no config, and logs why.
func (s *Server) refused(w http.ResponseWriter, pool, reason string) {
	s.note("E", "api.go:145", fmt.Sprintf("couldn't get config for req: {machineConfigPool:%s version:0xc000000000}, error: %s", pool, reason))
	refuse(w, http.StatusInternalServerError)
}

// refusal returns the line of the log about a pool that is not served.
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

// note writes a line of the server's log (klog), inside a line of a container's log (CRI).
func (s *Server) note(severity, place, text string) {
	s.lines.Lock()
	defer s.lines.Unlock()
	now := s.Now().UTC()
	_, err := fmt.Fprintf(s.Fetches, "%s stderr F %s%s       1 %s] %s\n",
		now.Format(time.RFC3339Nano), severity, now.Format("0102 15:04:05.000000"), place, text)
	if err != nil {
		s.Log.Error("log not written", "error", err)
	}
}
