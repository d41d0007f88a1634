package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/images/osimages"
	"slipway/internal/platform/idlememory"
	"slipway/internal/platform/metrics"
)

// imagesCommands are about discovery images and the systems they are made of; without a
// name it is the service.
type imagesCommands struct {
	Serve  imagesServeCommand  `cmd:"" default:"withargs" help:"Run the image service alone, beside an API that runs elsewhere."`
	Add    imagesAddCommand    `cmd:"" help:"Add a live ISO to the folder, where none can be downloaded."`
	List   imagesListCommand   `cmd:"" help:"List the live ISOs of the folder and of the settings."`
	Remove imagesRemoveCommand `cmd:"" help:"Remove a live ISO from the folder."`
}

// imageServiceOptions are those of every process that sends images.
type imageServiceOptions struct {
	imageOptions
	ImageRequests int `name:"image-requests" default:"400" env:"MAX_CONCURRENT_REQUESTS" help:"How many images are sent at once; more are asked to come again."`
}

// imagesServeCommand runs the image service alone. It has no database: any number of them
// may stand beside an API.
type imagesServeCommand struct {
	imageServiceOptions
	DataDir    string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for everything the service keeps."`
	Listen     string `default:"127.0.0.1:8092" env:"SLIPWAY_LISTEN" help:"Address the image service listens on."`
	OSImages   string `name:"os-images" env:"OS_IMAGES" help:"Live images of the operating system, a JSON list." placeholder:"JSON"`
	BaseURL    string `name:"image-service-url" env:"IMAGE_SERVICE_BASE_URL" help:"Address that machines reach this service at; by default that of --listen." placeholder:"URL"`
	ServiceURL string `env:"SLIPWAY_URL" help:"Address of the API; by default of ASSISTED_SERVICE_SCHEME and ASSISTED_SERVICE_HOST." placeholder:"URL"`
	ServiceCA  string `name:"service-ca" env:"ASSISTED_SERVICE_API_TRUSTED_CA_FILE,HTTPS_CA_FILE" type:"path" help:"Certificates, PEM, trusted for the API beside those of the system." placeholder:"FILE"`
	Insecure   bool   `env:"INSECURE_SKIP_VERIFY" help:"Take any certificate of the API."`
	TLSCert    string `name:"tls-cert" env:"HTTPS_CERT_FILE" type:"path" help:"Certificate of --listen, PEM; with --tls-key it speaks HTTPS." placeholder:"FILE"`
	TLSKey     string `name:"tls-key" env:"HTTPS_KEY_FILE" type:"path" help:"Key of the certificate, PEM." placeholder:"FILE"`
	PlainPort  int    `name:"http-port" env:"HTTP_LISTEN_PORT" help:"Port for firmware that knows no HTTPS, beside it: initrd and boot artifacts only." placeholder:"PORT"`
}

// Run serves images until it is told to end.
func (c *imagesServeCommand) Run(ctx context.Context, p *process) error {
	if _, set := p.env.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(imagesGC)
	}
	s := &imageService{process: p, options: c, shutdown: newShutdown(p.logger)}
	err := s.start(ctx)
	if err == nil {
		err = s.shutdown.wait(ctx)
	} else if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.shutdown.run(ctx))
}

// imageService is what the parts of the process share.
type imageService struct {
	process  *process
	options  *imagesServeCommand
	shutdown *shutdown
	store    *osimages.Store
}

func (s *imageService) start(ctx context.Context) error {
	begin, p, c := s.process.now(), s.process, s.options
	security, err := c.security()
	if err != nil {
		return err
	}
	main, err := listen(c.Listen, security, p.logger, s.shutdown.fail)
	if err != nil {
		return err
	}
	service, err := c.serviceURL(p)
	if err != nil {
		return err
	}
	caller, err := client.Transport(c.ServiceCA, c.Insecure)
	if err != nil {
		return err
	}
	if s.store, err = c.open(p); err != nil {
		return err
	}
	registry := newRegistry()
	registry.MustRegister(s.store.Collector())
	s.shutdown.background("operating system images", s.store.Run)
	scheme := "http"
	if security != nil {
		scheme = "https"
	}
	baseURL := cmp.Or(c.BaseURL, scheme+"://"+main.address())
	handler := newImages(p, imageParts{
		store: s.store, api: caller.Transport, apiURL: service, baseURL: baseURL, bodies: c.ImageRequests, meter: metrics.NewImages(registry),
	})
	main.use(s.routes(main.draining, handler, registry))
	s.shutdown.add("image service", requestGrace+time.Second, main.stop)
	if err := s.plain(handler, registry); err != nil {
		return err
	}
	s.shutdown.background("memory", func(ctx context.Context) { idlememory.Keep(ctx, imagesPace, p.logger) })
	fmt.Fprintf(p.stdout, "slipway is ready after %s: images %s\n", p.now().Sub(begin).Round(time.Millisecond), baseURL)
	return ctx.Err()
}

// open opens the folder of operating systems.
func (c *imagesServeCommand) open(p *process) (*osimages.Store, error) {
	offers, err := releaseOptions{OSImages: c.OSImages}.read()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.DataDir, 0o711); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	options, err := c.store(p, c.DataDir, offers.osImages)
	if err != nil {
		return nil, err
	}
	return osimages.Open(options)
}

// serviceURL is where the API is.
func (c *imagesServeCommand) serviceURL(p *process) (string, error) {
	host, _ := p.env.LookupEnv("ASSISTED_SERVICE_HOST")
	scheme, _ := p.env.LookupEnv("ASSISTED_SERVICE_SCHEME")
	switch {
	case c.ServiceURL != "":
	case host == "":
		return "", errors.New("require --service-url, the address of the API (or ASSISTED_SERVICE_SCHEME and ASSISTED_SERVICE_HOST), found none")
	default:
		u := url.URL{Scheme: cmp.Or(scheme, "http"), Host: host}
		c.ServiceURL = u.String()
	}
	u, err := webAddress("--service-url", c.ServiceURL)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// security is how --listen speaks HTTPS; nil: it does not.
func (c *imagesServeCommand) security() (*tls.Config, error) {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil, nil
	case c.TLSCert == "" || c.TLSKey == "":
		return nil, errors.New("require both --tls-cert and --tls-key, found one")
	}
	certificate, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("read --tls-cert and --tls-key: %w", err)
	}
	// HTTP/1.1 only: firmware knows nothing else, and a second protocol would share one
	// connection's window among downloads.
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, nil
}

// plainAddress is where firmware without HTTPS asks; empty: nowhere.
func (c *imagesServeCommand) plainAddress() (string, error) {
	if c.PlainPort == 0 {
		return "", nil
	}
	if c.TLSCert == "" {
		return "", errors.New("--http-port: require --tls-cert and --tls-key too, found HTTP at --listen already")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("read --listen: %w", err)
	}
	return net.JoinHostPort(host, fmt.Sprint(c.PlainPort)), nil
}
