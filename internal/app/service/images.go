package service

import (
	"cmp"
	"net/http"

	"github.com/go-chi/chi/v5"

	"slipway/internal/app/images"
	"slipway/internal/images/imageservice"
	"slipway/internal/images/liveisos"
	"slipway/internal/platform/metrics"
)

// imageOptions returns the options of the folder of operating systems. Where an image service has another address, it downloads them: this
// process does when a request comes here all the same.
func (s *Service) imageOptions() (liveisos.Options, error) {
	onDemand := s.offers.onDemand || s.options.ImageServiceURL != ""
	return images.StoreOptions(s.options.Downloads, s.process, s.options.DataDir, s.offers.osImages, onDemand)
}

// openImages opens the folder of operating systems.
func (s *Service) openImages() (*liveisos.Store, error) {
	options, err := s.imageOptions()
	if err != nil {
		return nil, err
	}
	store, err := liveisos.Open(options)
	if err != nil {
		return nil, err
	}
	s.registry.MustRegister(store.Collector())
	return store, nil
}

// serveImages puts images beside the API that they ask, in this process.
func (s *Service) serveImages(routes chi.Router, store *liveisos.Store, handler http.Handler) {
	baseURL := cmp.Or(s.options.ImageServiceURL, s.options.BaseURL)
	images.Mount(routes, images.New(s.process, images.Parts{
		Store: store, API: imageservice.InProcess(handler), BaseURL: baseURL, Bodies: s.options.ImageRequests,
		Meter: metrics.NewImages(s.registry),
	}))
	s.background("operating system images", store.Run)
}
