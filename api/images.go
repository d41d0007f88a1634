package api

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	sending "slipway/internal/images/download"
	"slipway/internal/images/osimages"
	"slipway/internal/model"
)

// ImagePaths are where the addresses of images begin (docs/reference/images.md,
// "Addresses").
var ImagePaths = []string{"/byid/", "/byapikey/", "/bytoken/", "/images/", "/boot-artifacts/"}

// DefaultImageBodies is how many images are sent at once (docs/reference/images.md,
// "Settings of the image service").
const DefaultImageBodies = 400

// ImagesOptions are what the image service works with. Images, API, BaseURL, Log and Now
// are required.
type ImagesOptions struct {
	// Images are the systems that discovery images are made of.
	Images *osimages.Store
	// API answers requests below APIURL: the v2 API of this process (InProcess), or one
	// over the network. All credentials are for it to judge.
	API    http.RoundTripper
	APIURL string // "http://192.0.2.1:8090"; empty: InProcess does not need one
	// BaseURL is where machines reach this service, for the root file system of minimal images.
	BaseURL string
	// Bodies is how many images are sent at once; zero: DefaultImageBodies.
	Bodies int
	// Patience is how long a reader may take for a part of a body; zero: that of package download.
	Patience time.Duration
	Log      *slog.Logger
	Now      func() time.Time
	Meter    ImagesMeter // nil: nobody counts
}

// ImagesMeter counts what the image service does.
type ImagesMeter interface {
	// ImageAnswered is told of every answer; code is a status, or "broken" for a body that
	// ended before its end.
	ImageAnswered(artifact, code string)
	// ImageSent is told of bytes on their way.
	ImageSent(bytes int64)
	// ImageBegun and ImageEnded are told of each body; took is the time to its first byte.
	ImageBegun(took time.Duration)
	ImageEnded()
}

type noMeter struct{}

func (noMeter) ImageAnswered(string, string) {}
func (noMeter) ImageSent(int64)              {}
func (noMeter) ImageBegun(time.Duration)     {}
func (noMeter) ImageEnded()                  {}

// images answers the addresses below ImagePaths.
type images struct {
	ImagesOptions
	sender  *sending.Sender
	configs *imageConfigs
	builder *imageBuilder
}

// NewImages makes the handler of everything below ImagePaths. It must get the server's
// own http.ResponseWriter, and wants ConnContext of package download in the server.
func NewImages(o ImagesOptions) http.Handler {
	if o.Bodies <= 0 {
		o.Bodies = DefaultImageBodies
	}
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	s := &images{
		ImagesOptions: o,
		sender:        sending.New(sending.Options{Bodies: o.Bodies, Patience: o.Patience, Now: o.Now, Sent: o.Meter.ImageSent}),
		configs:       newImageConfigs(o),
		builder:       newImageBuilder(o.BaseURL, o.Log),
	}
	return s.observed(cleanPaths(s.routes()))
}

func (s *images) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, model.NotFoundf("no such address: %s", hiddenCredentials(r)))
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, r, errMethod(r.Method))
	})
	r.Get("/byid/{infra_env_id}/{version}/{arch}/{file}", s.answering(s.iso, readID, shortForm))
	r.Get("/byapikey/{api_key}/{version}/{arch}/{file}", s.answering(s.iso, readAPIKey, shortForm))
	r.Get("/bytoken/{token}/{version}/{arch}/{file}", s.answering(s.iso, readToken, shortForm))
	r.Get("/images/{infra_env_id}", s.answering(s.iso, readID, longForm, typeOfQuery))
	r.Get("/images/{infra_env_id}/pxe-initrd", s.answering(s.initrd, readID, longForm))
	r.Get("/images/{infra_env_id}/s390x-initrd-addrsize", s.answering(s.addrSize, readID, longForm))
	r.Get("/boot-artifacts/{artifact}", s.answering(s.bootArtifact, longForm))
	return r
}
