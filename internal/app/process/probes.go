package process

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkTime bounds one readiness check.
const checkTime = 2 * time.Second

// Check is one part of /ready: Ask returns an error while requests cannot be answered. A check with a Warning asks nothing: it is
// there for people.
type Check struct {
	Name    string
	Ask     func(context.Context) error
	Warning string
}

// NewRegistry returns a registry with the metrics of Go and of the process.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// AddProbes adds /health, /live, which deployments of openshift/assisted-image-service ask, /ready and /metrics; /ready fails once
// draining is done.
func AddProbes(r chi.Router, draining context.Context, checks []Check, metrics prometheus.Gatherer) {
	for _, path := range []string{"/health", "/live"} {
		r.Get(path, func(w http.ResponseWriter, _ *http.Request) {
			Answer(w, http.StatusOK, map[string]string{"status": "ok"})
		})
	}
	r.Get("/ready", func(w http.ResponseWriter, r *http.Request) { ready(w, r, draining, checks) })
	r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
}

// ready answers 200 when every part does, and 503 with the names of the parts that do not.
func ready(w http.ResponseWriter, r *http.Request, draining context.Context, checks []Check) {
	if draining.Err() != nil {
		Answer(w, http.StatusServiceUnavailable, map[string]string{"status": "shutting down"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	states := make([]string, len(checks))
	var asked sync.WaitGroup
	for i, c := range checks {
		if states[i] = c.Warning; c.Warning != "" {
			continue
		}
		asked.Go(func() {
			if states[i] = "ok"; c.Ask(ctx) != nil {
				states[i] = "no answer"
			}
		})
	}
	asked.Wait()
	report, code := map[string]string{"status": "ready"}, http.StatusOK
	for i, c := range checks {
		report[c.Name] = states[i]
		if states[i] != "ok" && c.Warning == "" {
			report["status"], code = "not ready", http.StatusServiceUnavailable
		}
	}
	Answer(w, code, report)
}

// starting answers until the parts run: /health and /live with 200, everything else with 503 and
// Retry-After.
func starting() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" || r.URL.Path == "/live" {
			Answer(w, http.StatusOK, map[string]string{"status": "ok"})
			return
		}
		w.Header().Set("Retry-After", "1")
		Answer(w, http.StatusServiceUnavailable, map[string]string{"status": "starting"})
	})
}

// Answer writes a JSON object that no client may cache.
func Answer(w http.ResponseWriter, code int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
