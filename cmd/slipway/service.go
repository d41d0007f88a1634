package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"slipway/api"
	"slipway/internal/platform/engine"
	"slipway/internal/platform/metrics"
)

// serviceOptions are the flags that every command running a part of the service has.
type serviceOptions struct {
	installOptions
	authOptions
	DataDir string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for everything the service keeps."`
	BaseURL string `env:"SLIPWAY_BASE_URL,SERVICE_BASE_URL" help:"Address that hosts and users reach the API at; by default that of --listen." placeholder:"URL"`
}

// service is what the parts of one process share.
type service struct {
	process  *process
	options  serviceOptions
	logger   *slog.Logger
	shutdown *shutdown
	registry *prometheus.Registry // for metrics of our own
	recorder *metrics.Recorder
	metrics  prometheus.Gatherers // all that /metrics shows

	databaseURL string
	frontend    engine.Frontend
	identity    api.Identity

	stores
	parts
	temporal client.Client
	server   *server
	checks   []check
}

func newService(p *process, o serviceOptions) *service {
	registry := newRegistry()
	return &service{
		process: p, options: o, logger: p.logger, shutdown: newShutdown(p.logger),
		registry: registry, recorder: metrics.New(registry), metrics: prometheus.Gatherers{registry},
	}
}

// run starts the service and ends it again, whether the start succeeds or not. A signal
// during the start is no failure.
func (s *service) run(ctx context.Context, start func(context.Context) error) error {
	if err := s.identify(); err != nil {
		return err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go s.process.limitMemory(life)
	err := start(ctx)
	if err == nil {
		err = s.shutdown.wait(ctx)
	} else if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.shutdown.run(ctx))
}

// listen opens the HTTP listener, and takes the base URL from it where none is given.
func (s *service) listen(address string) error {
	var err error
	if s.server, err = listen(address, nil, s.logger, s.shutdown.fail); err != nil {
		return err
	}
	if s.options.BaseURL == "" {
		s.options.BaseURL = "http://" + s.server.address()
	}
	s.options.BaseURL = strings.TrimSuffix(s.options.BaseURL, "/")
	return nil
}

// serve puts the API and what belongs to it behind the listener.
func (s *service) serve(ctx context.Context) error {
	routes, err := s.api(ctx)
	if err != nil {
		return err
	}
	if s.identity.Open() {
		// Temporal's pages ask nobody who they are: with tokens they stay closed.
		if err := s.mountUI(routes); err != nil {
			return err
		}
	}
	addProbes(routes, s.server.draining, s.checks, s.metrics)
	s.server.use(routes)
	// Opened first, to find a port taken before anything is started; added last, to be
	// the first to end.
	s.shutdown.add("API", requestGrace+time.Second, s.server.stop)
	return nil
}

// mountUI puts Temporal's web UI, and what opens payloads for it, beside the API.
func (s *service) mountUI(routes chi.Router) error {
	ui, err := engine.UI(engine.UIOptions{
		Frontend:        s.frontend,
		InsecureCookies: !strings.HasPrefix(s.options.BaseURL, "https://"),
		CodecEndpoint:   s.options.BaseURL + codecPath,
	})
	if err != nil {
		return err
	}
	routes.Mount(engine.UIPath, ui)
	routes.Mount(codecPath, s.codec())
	return nil
}

// uiAddress says where Temporal's pages are, when they are.
func (s *service) uiAddress() []string {
	if !s.identity.Open() {
		return nil
	}
	return []string{"Temporal UI " + s.options.BaseURL + engine.UIPath}
}

// announce prints the line that says where everything is.
func (s *service) announce(begin time.Time, where ...string) {
	took := s.process.now().Sub(begin).Round(time.Millisecond)
	fmt.Fprintf(s.process.stdout, "slipway is ready after %s: %s\n", took,
		strings.Join(append([]string{"API " + s.options.BaseURL}, where...), ", "))
}

// connect opens the stores and the way to Temporal, and prepares the namespace there.
func (s *service) connect(ctx context.Context) error {
	if err := s.openStores(ctx); err != nil {
		return err
	}
	options := s.frontend.Options
	options.Logger = sdklog.NewStructuredLogger(quieter(s.logger, "temporal client", slog.LevelWarn))
	s.sealPayloads(&options)
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connect to Temporal at %s: %w", options.HostPort, err)
	}
	s.temporal = c
	s.shutdown.add("Temporal client", time.Second, func(context.Context) error { c.Close(); return nil })
	s.checks = append(s.checks, check{"temporal", func(ctx context.Context) error {
		_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}})
	err = engine.Bootstrap(ctx, c, engine.BootstrapOptions{
		Namespace: options.Namespace, External: s.frontend.External, Logger: s.logger,
	})
	if err != nil {
		return err
	}
	return s.assemble()
}

// externalTemporal is the frontend that commands without a server of their own use.
func (s *service) externalTemporal() error {
	frontend, found, err := engine.External(s.process.env)
	if err != nil {
		return err
	}
	if !found {
		return errors.New("require TEMPORAL_ADDRESS, host:port of a Temporal frontend")
	}
	s.frontend = frontend
	return nil
}

// serveProbes puts only what watchers need behind the listener.
func (s *service) serveProbes() {
	routes := chi.NewRouter()
	addProbes(routes, s.server.draining, s.checks, s.metrics)
	s.server.use(routes)
	s.shutdown.add("listener", requestGrace+time.Second, s.server.stop)
}
