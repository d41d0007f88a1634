package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// ServerVersion is the version of the bundled Temporal server.
const ServerVersion = headers.ServerVersion

// TemporalOptions configure the bundled Temporal server.
type TemporalOptions struct {
	// DatabaseURL is the PostgreSQL database; the server uses the schemas temporal and
	// temporal_visibility in it.
	DatabaseURL string
	// Port is the frontend's, where clients connect; the next three are used as well.
	// Zero: any free ones.
	Port int
	// Certificates is a folder for the files by which the server knows its clients, and they it. Where they are
	// missing they are made; only the user of this process can read them. Clients need ca.pem, client.pem and
	// client.key.
	Certificates string
	// Logger receives the server's log; its own level decides how much of it.
	Logger *slog.Logger
	Now    func() time.Time
}

// Temporal is the bundled Temporal server, running in this process.
type Temporal struct {
	logger *serverLog
	folder string // of the certificates
	ports  map[primitives.ServiceName]int
	meters *meters
	server temporal.Server

	lock     *engineLock
	letGo    context.CancelFunc // ends hold
	released chan struct{}      // closed when hold has returned

	once sync.Once
	done chan struct{} // closed when the server cannot continue
	err  error         // why; set before done is closed
}

// StartTemporal prepares the database and starts the server. It returns when the frontend accepts calls. ctx is the context of the whole
// service: from its end on, what fails does so because of it and is logged as details, also before Stop.
//
// Errors: *PortTakenError, ErrEngineHeld when another process runs a server on this
// database, ErrNewerDatabase when a newer version has used it.
func StartTemporal(ctx context.Context, o TemporalOptions) (*Temporal, error) {
	// Before the database is changed; and again when they are about to be used.
	if err := CheckPorts(o.Port); err != nil {
		return nil, err
	}
	t := &Temporal{folder: o.Certificates, meters: newMeters(), released: make(chan struct{}), done: make(chan struct{})}
	t.logger = newServerLog(o.Logger, o.Now, t.fail)
	var err error
	if t.lock, err = takeLock(ctx, o.DatabaseURL, o.Logger); err != nil {
		return nil, err
	}
	if err := t.guard(ctx, func() error { return t.start(ctx, o) }); err != nil {
		t.logger.shared.stopping.Store(true) // a start that ctx cancelled continues for a moment
		t.lock.release(context.WithoutCancel(ctx))
		return nil, err
	}
	context.AfterFunc(ctx, func() { t.logger.shared.stopping.Store(true) })
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	t.letGo = letGo
	go func() {
		defer close(t.released)
		if err := t.lock.hold(holding); err != nil {
			t.fail(err)
		}
	}()
	return t, nil
}

// MigrateTemporal prepares the database for the server without starting one. The errors are as for
// StartTemporal.
func MigrateTemporal(ctx context.Context, o TemporalOptions) error {
	t := &Temporal{done: make(chan struct{})}
	lock, err := takeLock(ctx, o.DatabaseURL, o.Logger)
	if err != nil {
		return err
	}
	defer lock.release(context.WithoutCancel(ctx))
	logger := newServerLog(o.Logger, o.Now, t.fail)
	return t.guard(ctx, func() error { return migrateSchemas(ctx, o.DatabaseURL, logger) })
}

func (t *Temporal) start(ctx context.Context, o TemporalOptions) error {
	if err := migrateSchemas(ctx, o.DatabaseURL, t.logger); err != nil {
		return err
	}
	ports, err := claimPorts(o.Port)
	if err != nil {
		return err
	}
	t.ports = ports
	settings, err := serverConfig(o.DatabaseURL, ports)
	if err != nil {
		return err
	}
	keys, err := loadCertificates(o.Certificates, o.Now())
	if err != nil {
		return err
	}
	settings.Global.TLS = keys.config()
	t.server, err = temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(staticHosts(ports)),
		temporal.WithDynamicConfigClient(dynamicConfig()),
		temporal.WithAuthorizer(authorization.NewDefaultAuthorizer()),
		temporal.WithClaimMapper(newClaimMapper),
		temporal.WithCustomMetricsHandler(t.meters),
		temporal.WithLogger(t.logger),
	)
	if err != nil {
		return fmt.Errorf("configure Temporal server: %w", err)
	}
	if err := t.server.Start(); err != nil {
		return errors.Join(fmt.Errorf("start Temporal server: %w", err), t.server.Stop())
	}
	return nil
}

// guard runs a part of the server that may call Fatal on its own failure: see serverLog.Fatal.
func (t *Temporal) guard(ctx context.Context, part func() error) error {
	result := make(chan error, 1)
	go func() { result <- part() }()
	select {
	case err := <-result:
		return err
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *Temporal) fail(err error) {
	t.once.Do(func() {
		t.err = fmt.Errorf("Temporal server: %w", err)
		close(t.done)
	})
}

// Address returns the address clients connect to, host:port.
func (t *Temporal) Address() string { return address(t.ports[primitives.FrontendService]) }

// Certificates returns the folder with what clients need: see TemporalOptions.
func (t *Temporal) Certificates() string { return t.folder }

// Metrics returns the server's metrics, to be served beside our own.
func (t *Temporal) Metrics() prometheus.Gatherer { return t.meters.shared.registry }

// Done returns a channel that is closed when the server cannot continue, for the reason that Err
// returns. A database that is unreachable for a while is no such reason.
func (t *Temporal) Done() <-chan struct{} { return t.done }

// Err returns why the server cannot continue. It is nil before Done.
func (t *Temporal) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// Stop ends the server and releases the engine lock. Tasks in progress when ctx ends are repeated by the next
// server.
func (t *Temporal) Stop(ctx context.Context) error {
	t.logger.shared.stopping.Store(true)
	stopped := make(chan error, 1)
	go func() { stopped <- t.server.Stop() }()
	var err error
	select {
	case err = <-stopped:
	case <-ctx.Done():
		err = fmt.Errorf("stop Temporal server: %w", ctx.Err())
	}
	t.letGo()
	<-t.released
	t.lock.release(context.WithoutCancel(ctx))
	return err
}
