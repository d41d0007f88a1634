package app

import (
	"context"
	"fmt"
	"log/slog"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/engine"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/store"
)

// migrateCommand prepares a database, for sites that do not let the service change schemas.
type migrateCommand struct {
	settings.ConfigFile
	DatabaseURL string `required:"" env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL to bring up to date." placeholder:"URL"`
}

// Run migrates Slipway's schema, and the Temporal server's unless another one is named.
func (c *migrateCommand) Run(ctx context.Context, p *process.Process) error {
	if err := migrate(ctx, c.DatabaseURL); err != nil {
		return err
	}
	_, external, err := frontend.External(p.Env)
	if err != nil {
		return err
	}
	if !external {
		err = engine.MigrateTemporal(ctx, engine.TemporalOptions{
			DatabaseURL: c.DatabaseURL, Logger: process.Quieter(p.Log, "temporal", slog.LevelWarn), Now: p.Now,
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(p.Stdout, "database is up to date")
	return nil
}

func migrate(ctx context.Context, databaseURL string) error { return store.Migrate(ctx, databaseURL) }
