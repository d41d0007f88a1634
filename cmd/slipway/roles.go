package main

import "context"

// apiCommand runs the API alone. Any number of them may share a database.
type apiCommand struct {
	serviceOptions
	Listen      string `default:"127.0.0.1:8090" env:"SLIPWAY_LISTEN" help:"Address the API listens on."`
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL that the service keeps its data in." placeholder:"URL"`
}

// Run serves the API until it is told to end.
func (c *apiCommand) Run(ctx context.Context, p *process) error {
	return runAlone(ctx, p, c.serviceOptions, c.Listen, c.DatabaseURL, func(ctx context.Context, s *service) ([]string, error) {
		err := s.serve(ctx)
		return s.uiAddress(), err
	})
}

// workerCommand runs workflows and activities alone. Its listener has the probes only.
type workerCommand struct {
	serviceOptions
	Listen      string `default:"127.0.0.1:8091" env:"SLIPWAY_LISTEN" help:"Address of /health, /ready and /metrics."`
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL that the service keeps its data in." placeholder:"URL"`
}

// Run works until it is told to end.
func (c *workerCommand) Run(ctx context.Context, p *process) error {
	return runAlone(ctx, p, c.serviceOptions, c.Listen, c.DatabaseURL, func(ctx context.Context, s *service) ([]string, error) {
		if err := s.startWorker(ctx); err != nil {
			return nil, err
		}
		s.serveProbes()
		return nil, nil
	})
}

// runAlone runs one part against a database and a Temporal that are there already; start
// brings it up and tells what else is where.
func runAlone(ctx context.Context, p *process, o serviceOptions, listen, databaseURL string, start func(context.Context, *service) ([]string, error)) error {
	s := newService(p, o)
	s.databaseURL = databaseURL
	return s.run(ctx, func(ctx context.Context) error {
		begin := s.process.now()
		if err := s.externalTemporal(); err != nil {
			return err
		}
		if err := s.listen(listen); err != nil {
			return err
		}
		if err := migrate(ctx, s.databaseURL); err != nil {
			return err
		}
		if err := s.connect(ctx); err != nil {
			return err
		}
		where, err := start(ctx, s)
		if err == nil {
			s.announce(begin, where...)
		}
		return err
	})
}
