package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"slipway/internal/platform/engine"
)

// upCommand runs everything in one process, and brings what is not given to it.
type upCommand struct {
	serviceOptions
	Listen       string `default:"127.0.0.1:8090" env:"SLIPWAY_LISTEN" help:"Address the API listens on."`
	DatabaseURL  string `env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL to use instead of one in the data folder." placeholder:"URL"`
	TemporalPort int    `default:"7233" env:"SLIPWAY_TEMPORAL_PORT" help:"Port of Temporal on loopback; the next three are used too; 0: any free ones. With TEMPORAL_ADDRESS set, that Temporal is used and none is started."`
	TemporalLog  string `name:"temporal-log-level" default:"warn" enum:"debug,info,warn,error" env:"SLIPWAY_TEMPORAL_LOG_LEVEL" help:"What of Temporal's own log to show: debug, info, warn or error."`
}

// Run starts the parts in the order in which they need each other, and ends them in reverse.
func (c *upCommand) Run(ctx context.Context, p *process) error {
	s := newService(p, c.serviceOptions)
	return s.run(ctx, func(ctx context.Context) error { return c.start(ctx, s) })
}

func (c *upCommand) start(ctx context.Context, s *service) error {
	begin := s.process.now()
	if err := s.listen(c.Listen); err != nil {
		return err
	}
	frontend, external, err := engine.External(s.process.env)
	if err != nil {
		return err
	}
	if s.frontend = frontend; !external {
		if err := c.portError(engine.CheckPorts(c.TemporalPort)); err != nil {
			return err
		}
	}
	if err := c.startDatabase(ctx, s); err != nil {
		return err
	}
	if err := migrate(ctx, s.databaseURL); err != nil {
		return err
	}
	if !external {
		if err := c.startTemporal(ctx, s); err != nil {
			return err
		}
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.startWorker(ctx); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	s.announce(begin, append(s.uiAddress(), "Temporal "+s.frontend.Options.HostPort)...)
	return nil
}

func (c *upCommand) startDatabase(ctx context.Context, s *service) error {
	if s.databaseURL = c.DatabaseURL; s.databaseURL != "" {
		return nil
	}
	postgres, err := engine.StartPostgres(ctx, engine.PostgresOptions{
		DataDir: s.options.DataDir, Logger: s.logger.With("part", "database"), Now: s.process.now,
	})
	if errors.Is(err, engine.ErrNoPostgres) {
		return fmt.Errorf("%w (--database-url)", err)
	}
	if err != nil {
		return err
	}
	s.databaseURL = postgres.URL()
	s.shutdown.add("database", drainTime, postgres.Stop)
	s.shutdown.watch(postgres.Done(), postgres.Err)
	return nil
}

func (c *upCommand) startTemporal(ctx context.Context, s *service) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.TemporalLog)); err != nil {
		return fmt.Errorf("read --temporal-log-level: %w", err)
	}
	server, err := engine.StartTemporal(ctx, engine.TemporalOptions{
		DatabaseURL: s.databaseURL, Port: c.TemporalPort, Logger: quieter(s.logger, "temporal", level), Now: s.process.now,
	})
	if err != nil {
		return c.portError(err)
	}
	s.frontend = engine.Bundled(server.Address())
	s.metrics = append(s.metrics, server.Metrics())
	s.shutdown.add("Temporal", 3*time.Second, server.Stop)
	s.shutdown.watch(server.Done(), server.Err)
	return nil
}

// portError adds what to do about a port that is taken.
func (c *upCommand) portError(err error) error {
	var taken *engine.PortTakenError
	if errors.As(err, &taken) {
		return fmt.Errorf("%w: choose others with --temporal-port", err)
	}
	return err
}
