// Package imageservice serves discovery images over HTTP: ISOs, network boot files, and parts of the operating system.
// It makes each image from a live ISO and the configuration that the v2 API returns to the caller's credential, while
// it sends it (docs/reference/images.md).
package imageservice

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"slipway/internal/images/download"
	"slipway/internal/images/liveisos"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
)

// Paths are the prefixes of all addresses of images (docs/reference/images.md, "Addresses").
var Paths = []string{"/byid/", "/byapikey/", "/bytoken/", "/images/", "/boot-artifacts/"}

// DefaultBodies is how many images are sent at once (docs/reference/images.md, "Settings of the image service").
const DefaultBodies = 400

// Options configure the image service. Images, API, BaseURL, Log and Now are required.
type Options struct {
	// Images are the live ISOs that discovery images are made from.
	Images *liveisos.Store
	// API answers requests below APIURL: the v2 API of this process (InProcess), or one over the network. It checks
	// all credentials.
	API    http.RoundTripper
	APIURL string // "http://192.0.2.1:8090"; empty: InProcess does not need one
	// BaseURL is where machines reach this service, for the root file system of minimal images.
	BaseURL string
	// Bodies is how many images are sent at once; zero: DefaultBodies.
	Bodies int
	// Patience is how long a client may take to read a part of a body; zero: the default of package download.
	Patience time.Duration
	Log      *slog.Logger
	Now      func() time.Time
	Meter    Meter // nil: none
}

// Meter counts the work of the image service.
type Meter interface {
	// ImageAnswered counts an answer; code is a status code, or "broken" for an incomplete body.
	ImageAnswered(artifact, code string)
	// ImageSent counts bytes sent.
	ImageSent(bytes int64)
	// ImageBegun and ImageEnded count bodies being sent; took is the time to the first byte.
	ImageBegun(took time.Duration)
	ImageEnded()
}

type noMeter struct{}

func (noMeter) ImageAnswered(string, string) {}
func (noMeter) ImageSent(int64)              {}
func (noMeter) ImageBegun(time.Duration)     {}
func (noMeter) ImageEnded()                  {}

// service answers requests below Paths.
type service struct {
	Options
	sender  *download.Sender
	configs *configCache
	builder *imageBuilder
}

// New returns the handler of everything below Paths. It must receive the server's own http.ResponseWriter, and the
// server should use ConnContext of package download.
func New(o Options) http.Handler {
	if o.Bodies <= 0 {
		o.Bodies = DefaultBodies
	}
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	s := &service{
		Options: o,
		sender:  download.New(download.Options{Bodies: o.Bodies, Patience: o.Patience, Now: o.Now, Sent: o.Meter.ImageSent}),
		configs: newConfigCache(o),
		builder: newImageBuilder(o.BaseURL, o.Log),
	}
	return s.observe(httpapi.CleanPaths(s.routes()))
}

func (s *service) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, model.NotFoundf("no such address: %s", httpapi.LoggedPath(r)))
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, r, httpapi.NoMethod(r.Method))
	})
	r.Get("/byid/{infra_env_id}/{version}/{arch}/{file}", s.handle(s.iso, readID, shortForm))
	r.Get("/byapikey/{api_key}/{version}/{arch}/{file}", s.handle(s.iso, readAPIKey, shortForm))
	r.Get("/bytoken/{token}/{version}/{arch}/{file}", s.handle(s.iso, readToken, shortForm))
	r.Get("/images/{infra_env_id}", s.handle(s.iso, readID, longForm, typeOfQuery))
	r.Get("/images/{infra_env_id}/pxe-initrd", s.handle(s.initrd, readID, longForm))
	r.Get("/images/{infra_env_id}/s390x-initrd-addrsize", s.handle(s.addrSize, readID, longForm))
	r.Get("/boot-artifacts/{artifact}", s.handle(s.bootArtifact, longForm))
	return r
}
