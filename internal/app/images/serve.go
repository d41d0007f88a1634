// Package images holds the commands of slipway images: the image service alone, and the live
// ISOs that it makes images of.
package images

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/app/versions"
	"slipway/internal/client"
	"slipway/internal/images/liveisos"
	"slipway/internal/platform/certificates"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/idlememory"
	"slipway/internal/platform/metrics"
)

// Commands are about discovery images and the systems they are made of; without a
// name it is the service.
type Commands struct {
	Serve  serveCommand  `cmd:"" default:"withargs" help:"Run the image service alone, beside an API that runs elsewhere."`
	Add    addCommand    `cmd:"" help:"Add a live ISO to the folder, where none can be downloaded."`
	List   listCommand   `cmd:"" help:"List the live ISOs of the folder and of the settings."`
	Remove removeCommand `cmd:"" help:"Remove a live ISO from the folder."`
}

// serveCommand runs the image service alone. It has no database: any number of them
// may stand beside an API.
type serveCommand struct {
	settings.ImageService
}

// Run serves images until ctx ends.
func (c *serveCommand) Run(ctx context.Context, p *process.Process) error {
	if _, set := p.Env.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(collectAt)
	}
	s := &imageService{process: p, options: c, shutdown: process.NewShutdown(p.Log)}
	err := s.start(ctx)
	if err == nil {
		err = s.shutdown.Wait(ctx)
		p.Notify(process.Stopping, "ending its parts")
	} else if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.shutdown.Run(ctx))
}

// imageService holds what the parts of the process share.
type imageService struct {
	process  *process.Process
	options  *serveCommand
	shutdown *process.Shutdown
	store    *liveisos.Store
	bounds   *guard.Connections // of all listeners
}

func (s *imageService) start(ctx context.Context) error {
	begin, p, c := s.process.Now(), s.process, s.options
	security, err := c.security(p.Log)
	if err != nil {
		return err
	}
	s.bounds = c.Bounds(p.Log, p.Now)
	listener, err := process.Listen(c.Listen, security, s.bounds, p.Now, p.Log, s.shutdown.Fail)
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
	registry := process.NewRegistry()
	registry.MustRegister(s.store.Collector())
	if security != nil {
		registry.MustRegister(metrics.NewCertificate(c.certificate().End))
	}
	s.shutdown.Background("operating system images", s.store.Run)
	scheme := "http"
	if security != nil {
		scheme = "https"
	}
	baseURL := cmp.Or(c.BaseURL, scheme+"://"+listener.Address())
	handler := New(p, Parts{
		Store: s.store, API: caller.Transport, APIURL: service, BaseURL: baseURL, Bodies: c.ImageRequests, Meter: metrics.NewImages(registry),
	})
	listener.Use(s.routes(listener.Draining(), handler, registry))
	s.shutdown.Add("image service", process.RequestGrace+time.Second, listener.Stop)
	if err := s.plain(handler, registry); err != nil {
		return err
	}
	s.shutdown.Background("memory", func(ctx context.Context) { idlememory.Keep(ctx, pace, p.Log) })
	fmt.Fprintf(p.Stdout, "slipway is ready after %s: images %s\n", p.Now().Sub(begin).Round(time.Millisecond), baseURL)
	p.Notify(process.Ready, "images "+baseURL)
	return ctx.Err()
}

// open opens the folder of operating systems.
func (c *serveCommand) open(p *process.Process) (*liveisos.Store, error) {
	known, err := versions.Read(versions.Lists{OSImages: c.OSImages}, c.DataDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.DataDir, 0o711); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	options, err := StoreOptions(c.Downloads, p, c.DataDir, known.OSImages, known.OnDemand)
	if err != nil {
		return nil, err
	}
	return liveisos.Open(options)
}

// serviceURL returns the API's address.
func (c *serveCommand) serviceURL(p *process.Process) (string, error) {
	host, _ := p.Env.LookupEnv("ASSISTED_SERVICE_HOST")
	scheme, _ := p.Env.LookupEnv("ASSISTED_SERVICE_SCHEME")
	switch {
	case c.ServiceURL != "":
	case host == "":
		return "", errors.New("--service-url, the address of the API, is required (or ASSISTED_SERVICE_SCHEME and ASSISTED_SERVICE_HOST)")
	default:
		u := url.URL{Scheme: cmp.Or(scheme, "http"), Host: host}
		c.ServiceURL = u.String()
	}
	u, err := settings.WebAddress("--service-url", c.ServiceURL)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// security returns the TLS settings of --listen; nil: no HTTPS. A certificate that is replaced is read again.
func (c *serveCommand) security(log *slog.Logger) (*tls.Config, error) {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil, nil
	case c.TLSCert == "" || c.TLSKey == "":
		return nil, errors.New("--tls-cert and --tls-key are required together")
	}
	// HTTP/1.1 only: firmware knows nothing else, and a second protocol would share one
	// connection's window among downloads.
	security, err := c.certificate().Server(log)
	if err != nil {
		return nil, fmt.Errorf("read --tls-cert and --tls-key: %w", err)
	}
	return security, nil
}

// certificate returns the files of the listener's certificate.
func (c *serveCommand) certificate() certificates.Files {
	return certificates.Files{Certificate: c.TLSCert, Key: c.TLSKey}
}

// plainAddress returns the address for firmware without HTTPS; empty: none.
func (c *serveCommand) plainAddress() (string, error) {
	if c.PlainPort == 0 {
		return "", nil
	}
	if c.TLSCert == "" {
		return "", errors.New("--http-port requires --tls-cert and --tls-key: without them --listen already serves HTTP")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("read --listen: %w", err)
	}
	return net.JoinHostPort(host, fmt.Sprint(c.PlainPort)), nil
}

// collectAt is how much the heap may grow before it is collected, in percent: what lives is
// little, and answers leave hardly anything behind.
const collectAt = 50

// pace is how often memory is given back: the program has the whole service in it,
// some 90 MB, of which sending images needs a few. The heap is collected at its own pace
// after the start, which leaves as much again as what lives.
var pace = idlememory.Pace{Pages: time.Second, Heap: time.Hour}
