package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewer is returned when a newer Slipway has used this database.
var ErrNewer = errors.New("the database was written by a newer version of Slipway")

// lockKey serialises migrations of several processes on one database.
const lockKey = 0x511b_3a7e

// Migrate creates the schema or brings it up to date. It may run in several processes
// at once. It returns an ErrNewer when the database is ahead of this program.
func Migrate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lockKey); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	if _, err := conn.Exec(ctx, "create schema if not exists "+Schema); err != nil {
		return fmt.Errorf("create schema %s: %w", Schema, err)
	}
	if _, err := conn.Exec(ctx, "set search_path to "+Schema); err != nil {
		return fmt.Errorf("select schema %s: %w", Schema, err)
	}
	return migrateSchema(ctx, conn)
}

func migrateSchema(ctx context.Context, conn *pgx.Conn) error {
	m, err := migrate.NewMigrator(ctx, conn, Schema+".schema_version")
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := m.LoadMigrations(files); err != nil {
		return fmt.Errorf("load migrations: %w", err)
	}
	have, err := m.GetCurrentVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if want := int32(len(m.Migrations)); have > want {
		return fmt.Errorf("%w: its schema has version %d, this program knows %d", ErrNewer, have, want)
	}
	if err := m.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}
