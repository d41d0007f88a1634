package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"slipway/internal/images/imageservice"
	"slipway/internal/images/osimages"
	"slipway/internal/platform/metrics"
)

// imageParts are what images are made with.
type imageParts struct {
	store           *osimages.Store
	api             http.RoundTripper
	apiURL, baseURL string
	bodies          int
	meter           *metrics.Images
}

func newImages(p *process, parts imageParts) http.Handler {
	return imageservice.New(imageservice.Options{
		Images: parts.store, API: parts.api, APIURL: parts.apiURL, BaseURL: parts.baseURL, Bodies: parts.bodies,
		Log: p.logger, Now: p.now, Meter: parts.meter,
	})
}

// mountImages puts images beside the routes of the API. Nothing may wrap what they write
// to: see package download.
func mountImages(routes chi.Router, images http.Handler) {
	for _, path := range imageservice.Paths {
		routes.Handle(path+"*", images)
	}
}

// openImages opens the folder of operating systems.
func (s *service) openImages() (*osimages.Store, error) {
	options, err := s.options.store(s.process, s.options.DataDir, s.offers.osImages)
	if err != nil {
		return nil, err
	}
	store, err := osimages.Open(options)
	if err != nil {
		return nil, err
	}
	s.registry.MustRegister(store.Collector())
	return store, nil
}

// serveImages puts images beside the API that they ask, in this process.
func (s *service) serveImages(routes chi.Router, store *osimages.Store, handler http.Handler) {
	baseURL := s.options.ImageServiceURL
	if baseURL == "" {
		baseURL = s.options.BaseURL
	}
	mountImages(routes, newImages(s.process, imageParts{
		store: store, api: imageservice.InProcess(handler), baseURL: baseURL, bodies: s.options.ImageRequests, meter: metrics.NewImages(s.registry),
	}))
	s.background("operating system images", store.Run)
}

// routes are those of the image service alone.
func (s *imageService) routes(draining context.Context, images http.Handler, metrics prometheus.Gatherer) http.Handler {
	routes := chi.NewRouter()
	mountImages(routes, images)
	addProbes(routes, draining, nil, metrics)
	routes.Get("/live", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	routes.Get("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if draining.Err() != nil {
			answer(w, http.StatusServiceUnavailable, map[string]string{"status": "shutting down"})
			return
		}
		report, code := imagesReady(s.store.Status())
		answer(w, code, report)
	})
	return routes
}

// imagesReady tells of every operating system how it is. The service is ready when none
// is on its way: those that failed are tried again, and must not keep the others back.
func imagesReady(list []osimages.Status) (map[string]string, int) {
	report, code := map[string]string{"status": "ready"}, http.StatusOK
	for _, image := range list {
		state := string(image.State)
		switch image.State {
		case osimages.StateReady:
		case osimages.StateFailed:
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
	server, err := listen(address, nil, s.process.logger, s.shutdown.fail)
	if err != nil {
		return err
	}
	routes := chi.NewRouter()
	addProbes(routes, server.draining, nil, metrics)
	routes.Handle("/boot-artifacts/*", images)
	routes.Handle("/images/*", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/pxe-initrd") {
			answer(w, http.StatusNotFound, map[string]string{"status": "this is offered over HTTPS only"})
			return
		}
		images.ServeHTTP(w, r)
	}))
	server.use(routes)
	s.shutdown.add("plain listener", requestGrace+time.Second, server.stop)
	return nil
}
