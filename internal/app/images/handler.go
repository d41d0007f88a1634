package images

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"slipway/internal/app/process"
	"slipway/internal/images/imageservice"
	"slipway/internal/images/liveisos"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/metrics"
)

// Parts are the dependencies of the image service.
type Parts struct {
	Store           *liveisos.Store
	API             http.RoundTripper // carries requests to the API
	APIURL, BaseURL string
	Bodies          int // images sent at once
	Meter           *metrics.Images
}

// New returns the handler of the image service.
func New(p *process.Process, parts Parts) http.Handler {
	return imageservice.New(imageservice.Options{
		Images: parts.Store, API: parts.API, APIURL: parts.APIURL, BaseURL: parts.BaseURL, Bodies: parts.Bodies,
		Log: p.Log, Now: p.Now, Meter: parts.Meter,
	})
}

// Mount puts images beside the routes of the API. Nothing may wrap what they write
// to: see package download.
func Mount(routes chi.Router, images http.Handler) {
	images = guard.Direct(images)
	for _, path := range imageservice.Paths {
		routes.Handle(path+"*", images)
	}
}

// routes returns the handler of the image service alone.
func (s *imageService) routes(draining context.Context, images http.Handler, metrics prometheus.Gatherer) http.Handler {
	routes := chi.NewRouter()
	Mount(routes, images)
	process.AddProbes(routes, draining, nil, metrics)
	routes.Get("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if draining.Err() != nil {
			process.Answer(w, http.StatusServiceUnavailable, map[string]string{"status": "shutting down"})
			return
		}
		report, code := ready(s.store.Status())
		process.Answer(w, code, report)
	})
	return routes
}

// ready reports the state of every operating system. The service is ready when none
// is on its way: failed ones are tried again, and must not keep the others back.
func ready(list []liveisos.Status) (map[string]string, int) {
	report, code := map[string]string{"status": "ready"}, http.StatusOK
	for _, image := range list {
		state := string(image.State)
		switch image.State {
		case liveisos.StateReady, liveisos.StateOnDemand:
		case liveisos.StateFailed:
			state = "failed"
			if image.Err != nil {
				state += ": " + image.Err.Error()
			}
		default:
			if image.Size > 0 {
				state = fmt.Sprintf("%s, %d of %d MiB", state, image.Done>>20, image.Size>>20)
			}
			report["status"], code = "not ready", http.StatusServiceUnavailable
		}
		report[image.Key().String()] = state
	}
	return report, code
}

// plain opens the listener for firmware that knows no HTTPS, where there is to be one.
func (s *imageService) plain(images http.Handler, metrics prometheus.Gatherer) error {
	address, err := s.options.plainAddress()
	if err != nil || address == "" {
		return err
	}
	server, err := process.Listen(address, nil, s.bounds, s.process.Now, s.process.Log, s.shutdown.Fail)
	if err != nil {
		return err
	}
	routes := chi.NewRouter()
	process.AddProbes(routes, server.Draining(), nil, metrics)
	images = guard.Direct(images)
	routes.Handle("/boot-artifacts/*", images)
	routes.Handle("/images/*", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/pxe-initrd") {
			process.Answer(w, http.StatusNotFound, map[string]string{"status": "this is offered over HTTPS only"})
			return
		}
		images.ServeHTTP(w, r)
	}))
	server.Use(routes)
	s.shutdown.Add("plain listener", process.RequestGrace+time.Second, server.Stop)
	return nil
}
