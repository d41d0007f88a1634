package main

import (
	"context"
	"fmt"
	"log/slog"

	"slipway/internal/platform/engine"
	"slipway/internal/platform/store"
)

// migrateCommand prepares a database, for those who do not let the service change schemas.
type migrateCommand struct {
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL to bring up to date." placeholder:"URL"`
}

// Run migrates Slipway's schema, and those of the Temporal server unless another one is named.
func (c *migrateCommand) Run(ctx context.Context, p *process) error {
	if err := migrate(ctx, c.DatabaseURL); err != nil {
		return err
	}
	_, external, err := engine.External(p.env)
	if err != nil {
		return err
	}
	if !external {
		err = engine.MigrateTemporal(ctx, engine.TemporalOptions{
			DatabaseURL: c.DatabaseURL, Logger: quieter(p.logger, "temporal", slog.LevelWarn), Now: p.now,
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(p.stdout, "database is up to date")
	return nil
}

func migrate(ctx context.Context, databaseURL string) error { return store.Migrate(ctx, databaseURL) }
