package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"slipway/internal/app/backup"
	"slipway/internal/app/images"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/client/contexts"
	"slipway/internal/platform/certificates"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/metrics"
)

// Service holds what the parts of one process share. Its methods are called in this order: Listen,
// Connect, StartWorker or Serve or both, Announce.
type Service struct {
	// DatabaseURL and Temporal are set by the command before Connect.
	DatabaseURL string
	Temporal    frontend.Connection
	// TemporalConfig is the file with which Temporal's own tools reach it; empty: none is written.
	TemporalConfig string
	// Shutdown ends the parts in reverse order of their start.
	Shutdown *process.Shutdown

	process  *process.Process
	options  settings.Service
	logger   *slog.Logger
	registry *prometheus.Registry // our own metrics
	recorder *metrics.Recorder
	metrics  prometheus.Gatherers // everything /metrics shows
	signIn   *signIn              // nil: users have tokens only
	identity identity

	stores
	parts
	client client.Client
	server *process.Server
	// bootServer and bootURL are for machines that boot over the network without HTTPS; nil and empty: not served.
	bootServer *process.Server
	bootURL    string
	// serviceCA signed the certificate of the base URL, PEM; empty: an authority that hosts trust anyway did.
	serviceCA string
	// served are the files of the listener's certificate.
	served certificates.Files
	// acme gets the certificate of the listener from an ACME server; nil: none does.
	acme *certificates.ACME
	// tokenKey and authority must fit the database; without a path they are not used.
	tokenKey, authority fileOfDatabase
	// names are the names that the listener is reached by.
	names []string
	// first is set in the run that made the administrator's token for the first time.
	first bool
	// local is set where hosts get an address that only this machine reaches.
	local  bool
	checks []process.Check
}

// New returns a service that has started nothing.
func New(p *process.Process, o settings.Service) *Service {
	registry := process.NewRegistry()
	return &Service{
		process: p, options: o, logger: p.Log, Shutdown: process.NewShutdown(p.Log),
		registry: registry, recorder: metrics.New(registry), metrics: prometheus.Gatherers{registry},
	}
}

// Run starts the service and ends it again, whether the start succeeds or not. A signal
// during the start is no failure.
func (s *Service) Run(ctx context.Context, start func(context.Context) error) error {
	mark := filepath.Join(s.options.DataDir, backup.Unfinished)
	if _, err := os.Stat(mark); err == nil {
		return fmt.Errorf("a restore into %s was not finished (%s): empty the folder, and restore again", s.options.DataDir, mark)
	}
	if err := s.identify(); err != nil {
		return err
	}
	if err := s.readSettings(); err != nil {
		return err
	}
	process.NoCoreDumps(s.logger)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go s.process.LimitMemory(life)
	if s.options.ProfileSocket != "" {
		stop, err := process.ServeProfiles(s.options.ProfileSocket)
		if err != nil {
			return err
		}
		defer stop()
	}
	err := start(ctx)
	if err == nil {
		err = s.Shutdown.Wait(ctx)
		s.process.Notify(process.Stopping, "ending its parts")
	} else if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.Shutdown.Run(ctx))
}

// Serve puts the API and what belongs to it behind the listener.
func (s *Service) Serve(ctx context.Context) error {
	base, err := s.baseURL()
	if err != nil {
		return err
	}
	s.local = isLoopback(base.Hostname())
	routes, err := s.api(ctx)
	if err != nil {
		return err
	}
	if err := s.mountUI(routes); err != nil {
		return err
	}
	routes.Method(http.MethodGet, "/", s.index())
	process.AddProbes(routes, s.server.Draining(), s.checks, s.metrics)
	if err := s.letAdministratorIn(ctx); err != nil {
		return err
	}
	s.server.Use(guard.Guard(s.guard(), routes))
	// Opened first, to find a port taken before anything is started; added last, to be
	// the first to end.
	s.Shutdown.Add("API", process.RequestGrace+time.Second, s.server.Stop)
	if s.bootServer != nil {
		s.bootServer.Use(guard.Guard(s.guard(), images.BootOnly(routes)))
		s.Shutdown.Add("plain listener", process.RequestGrace+time.Second, s.bootServer.Stop)
	}
	return nil
}

// Announce prints the line that says where everything is, and what to do after the first start. The token of the administrator
// is in a file: what a service prints is kept in journals.
func (s *Service) Announce(begin time.Time, where ...string) {
	took := s.process.Now().Sub(begin).Round(time.Millisecond)
	places := strings.Join(append([]string{"API " + s.options.BaseURL}, where...), ", ")
	s.say("slipway is ready after %s: %s", took, places)
	s.process.Notify(process.Ready, places)
	if s.local {
		s.say("hosts on other machines do not reach %s: --listen ADDRESS:PORT or --base-url names an address that they reach",
			s.options.BaseURL)
	}
	if !s.first {
		return
	}
	s.say("the token of the administrator is in %s: slipway on this machine uses it, and slipway context token prints it",
		filepath.Join(s.options.DataDir, contexts.AdminFile))
	if authority, err := certificates.ParseCertificate([]byte(s.serviceCA)); err == nil {
		s.say("on other machines: slipway login %s --fingerprint %x", s.options.BaseURL, sha256.Sum256(authority.Raw))
	}
}

func (s *Service) say(format string, args ...any) {
	fmt.Fprintf(s.process.Stdout, format+"\n", args...)
}

// Connect opens the stores and the way to Temporal, and prepares the namespace there.
func (s *Service) Connect(ctx context.Context) error {
	if err := s.openStores(ctx); err != nil {
		return err
	}
	options := s.Temporal.Options
	options.Logger = sdklog.NewStructuredLogger(process.Quieter(s.logger, "temporal client", slog.LevelWarn))
	s.sealPayloads(&options)
	var err error
	if options.MetricsHandler, err = metrics.NewTemporal(s.registry, s.logger); err != nil {
		return err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connect to Temporal at %s: %w", options.HostPort, err)
	}
	s.client = c
	s.Shutdown.Add("Temporal client", time.Second, func(context.Context) error { c.Close(); return nil })
	s.checks = append(s.checks, process.Check{Name: "temporal", Ask: func(ctx context.Context) error {
		_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}})
	err = frontend.PrepareNamespace(ctx, c, frontend.NamespaceOptions{
		Namespace: options.Namespace, External: s.Temporal.External, Retention: s.options.Retention, Logger: s.logger,
	})
	if err != nil {
		return err
	}
	return s.assemble(ctx)
}

// ExternalTemporal finds the frontend for commands without a server of their own.
func (s *Service) ExternalTemporal() error {
	connection, found, err := frontend.External(s.process.Env)
	if err != nil {
		return err
	}
	if !found {
		return errors.New("require TEMPORAL_ADDRESS, host:port of a Temporal frontend")
	}
	s.Temporal = connection
	return nil
}

// ServeProbes puts only what watchers need behind the listener.
func (s *Service) ServeProbes() {
	routes := chi.NewRouter()
	process.AddProbes(routes, s.server.Draining(), s.checks, s.metrics)
	s.server.Use(routes)
	s.Shutdown.Add("listener", process.RequestGrace+time.Second, s.server.Stop)
}

// AddMetrics adds the metrics of another part to /metrics.
func (s *Service) AddMetrics(more prometheus.Gatherer) { s.metrics = append(s.metrics, more) }
