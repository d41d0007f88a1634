package main

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

// check tells whether something that requests need answers.
type check struct {
	name string
	ask  func(context.Context) error
}

// newRegistry is where every part of the process registers its metrics.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// addProbes adds the routes for those who watch the service.
func addProbes(r chi.Router, draining context.Context, checks []check, metrics prometheus.Gatherer) {
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	r.Get("/ready", func(w http.ResponseWriter, r *http.Request) { ready(w, r, draining, checks) })
	r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
}

// ready answers 200 when every part does, and 503 with the names of those that do not.
func ready(w http.ResponseWriter, r *http.Request, draining context.Context, checks []check) {
	if draining.Err() != nil {
		answer(w, http.StatusServiceUnavailable, map[string]string{"status": "shutting down"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	states := make([]string, len(checks))
	var asked sync.WaitGroup
	for i, c := range checks {
		asked.Go(func() {
			if states[i] = "ok"; c.ask(ctx) != nil {
				states[i] = "no answer"
			}
		})
	}
	asked.Wait()
	report, code := map[string]string{"status": "ready"}, http.StatusOK
	for i, c := range checks {
		report[c.name] = states[i]
		if states[i] != "ok" {
			report["status"], code = "not ready", http.StatusServiceUnavailable
		}
	}
	answer(w, code, report)
}

// starting answers while the parts are being started: alive, and asked to come back.
func starting() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			answer(w, http.StatusOK, map[string]string{"status": "ok"})
			return
		}
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, map[string]string{"status": "starting"})
	})
}

func answer(w http.ResponseWriter, code int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
