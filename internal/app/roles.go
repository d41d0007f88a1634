package app

import (
	"context"

	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
)

// apiCommand runs the API alone. Any number of them may share a database.
type apiCommand struct{ settings.API }

// Run serves the API until ctx ends.
func (c *apiCommand) Run(ctx context.Context, p *process.Process) error {
	listen := func(s *service.Service) error { return s.Listen(c.Listen) }
	return runAlone(ctx, p, c.Service, c.DatabaseURL, listen, func(ctx context.Context, s *service.Service) ([]string, error) {
		err := s.Serve(ctx)
		return []string{s.UIAddress()}, err
	})
}

// workerCommand runs workflows and activities alone. Its listener has the probes only.
type workerCommand struct{ settings.Worker }

// Run works until ctx ends.
func (c *workerCommand) Run(ctx context.Context, p *process.Process) error {
	listen := func(s *service.Service) error { return s.ListenPlain(c.Listen) }
	return runAlone(ctx, p, c.Service, c.DatabaseURL, listen, func(ctx context.Context, s *service.Service) ([]string, error) {
		if err := s.StartWorker(ctx); err != nil {
			return nil, err
		}
		s.ServeProbes()
		return nil, nil
	})
}

// runAlone runs one part against a database and a Temporal that are there already; start
// brings the part up and returns the addresses to announce.
func runAlone(
	ctx context.Context, p *process.Process, o settings.Service, databaseURL string, listen func(*service.Service) error,
	start func(context.Context, *service.Service) ([]string, error),
) error {
	s := service.New(p, o)
	s.DatabaseURL = databaseURL
	return s.Run(ctx, func(ctx context.Context) error {
		begin := p.Now()
		if err := s.ExternalTemporal(); err != nil {
			return err
		}
		if err := listen(s); err != nil {
			return err
		}
		if err := migrate(ctx, s.DatabaseURL); err != nil {
			return err
		}
		if err := s.Connect(ctx); err != nil {
			return err
		}
		where, err := start(ctx, s)
		if err == nil {
			s.Announce(begin, where...)
		}
		return err
	})
}
