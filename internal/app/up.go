package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"slipway/internal/app/hub"
	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
	"slipway/internal/platform/engine"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/postgres"
)

// upCommand runs everything in one process, and brings what is not given to it.
type upCommand struct{ settings.Up }

// Run starts the parts in the order in which they need each other, and ends them in reverse.
func (c *upCommand) Run(ctx context.Context, p *process.Process) error {
	s := service.New(p, c.Service)
	return s.Run(ctx, func(ctx context.Context) error { return c.start(ctx, p, s) })
}

func (c *upCommand) start(ctx context.Context, p *process.Process, s *service.Service) error {
	begin := p.Now()
	if err := s.Listen(c.Listen); err != nil {
		return err
	}
	connection, external, err := frontend.External(p.Env)
	if err != nil {
		return err
	}
	if s.Temporal = connection; !external {
		if err := c.portError(engine.CheckPorts(c.TemporalPort)); err != nil {
			return err
		}
	}
	if err := c.startDatabase(ctx, p, s); err != nil {
		return err
	}
	if err := migrate(ctx, s.DatabaseURL); err != nil {
		return err
	}
	if !external {
		if err := c.startTemporal(ctx, p, s); err != nil {
			return err
		}
	}
	if err := s.Connect(ctx); err != nil {
		return err
	}
	if err := s.StartWorker(ctx); err != nil {
		return err
	}
	if err := s.Serve(ctx); err != nil {
		return err
	}
	if c.Kubeconfig != "" {
		controllers, err := hub.Beside(c.Kubeconfig, c.Service)
		if err != nil {
			return err
		}
		s.Shutdown.Background("controllers of the hub", func(ctx context.Context) { controllers.Follow(ctx, p) })
	}
	s.Announce(begin, s.UIAddress(), "Temporal "+s.Temporal.Options.HostPort)
	return nil
}

func (c *upCommand) startDatabase(ctx context.Context, p *process.Process, s *service.Service) error {
	if s.DatabaseURL = c.DatabaseURL; s.DatabaseURL != "" {
		return nil
	}
	database, err := postgres.Start(ctx, postgres.Options{
		DataDir: c.DataDir, Account: c.PostgresUser, Logger: p.Log.With("part", "database"), Now: p.Now,
	})
	if errors.Is(err, postgres.ErrNotInstalled) {
		return fmt.Errorf("%w (--database-url)", err)
	}
	if err != nil {
		return err
	}
	s.DatabaseURL = database.URL()
	s.Shutdown.Add("database", process.DrainTime, database.Stop)
	s.Shutdown.Watch(database.Done(), database.Err)
	return nil
}

func (c *upCommand) startTemporal(ctx context.Context, p *process.Process, s *service.Service) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.TemporalLog)); err != nil {
		return fmt.Errorf("read --temporal-log-level: %w", err)
	}
	folder, err := filepath.Abs(filepath.Join(c.DataDir, "temporal"))
	if err != nil {
		return fmt.Errorf("find the folder of Temporal's certificates: %w", err)
	}
	server, err := engine.StartTemporal(ctx, engine.TemporalOptions{
		DatabaseURL: s.DatabaseURL, Port: c.TemporalPort, Certificates: folder,
		Logger: process.Quieter(p.Log, "temporal", level), Now: p.Now,
	})
	if err != nil {
		return c.portError(err)
	}
	s.AddMetrics(server.Metrics())
	s.Shutdown.Add("Temporal", 3*time.Second, server.Stop)
	s.Shutdown.Watch(server.Done(), server.Err)
	s.TemporalConfig = filepath.Join(folder, "temporal.toml")
	s.Temporal, err = frontend.Bundled(server.Address(), frontend.CertificatesIn(server.Certificates()))
	return err
}

// portError adds what to do about a port that is taken.
func (c *upCommand) portError(err error) error {
	var taken *engine.PortTakenError
	if errors.As(err, &taken) {
		return fmt.Errorf("%w: choose others with --temporal-port", err)
	}
	return err
}
