package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/jackc/pgx/v5"
	"go.temporal.io/server/common/log"
	v12 "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
)

// ErrNewerDatabase is returned when a newer Slipway has used this database.
var ErrNewerDatabase = errors.New("the database was written by a newer version of Slipway")

// Comments on the schemas. Set-up is many statements without a transaction around them; the first comment marks
// an unfinished set-up, which may be dropped.
const (
	unfinished = "slipway: set-up not finished"
	finished   = "slipway: tables of the Temporal server"
)

// temporalSchema is one store of the Temporal server.
type temporalSchema struct {
	name    string // of the PostgreSQL schema
	assets  string // folder in the server's embedded schema files
	version string // that this server needs
	conns   int
}

var (
	mainSchema       = temporalSchema{"temporal", "postgresql/v12/temporal", v12.Version, mainConns}
	visibilitySchema = temporalSchema{"temporal_visibility", "postgresql/v12/visibility", v12.VisibilityVersion, visibilityConns}
)

// migrateSchemas creates the Temporal server's tables or brings them up to date. The
// caller holds the engine lock.
func migrateSchemas(ctx context.Context, databaseURL string, logger log.Logger) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect to database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, s := range []temporalSchema{mainSchema, visibilitySchema} {
		if err := s.migrate(ctx, conn, databaseURL, logger); err != nil {
			return fmt.Errorf("prepare schema %s: %w", s.name, err)
		}
	}
	return nil
}

func (s temporalSchema) migrate(ctx context.Context, conn *pgx.Conn, databaseURL string, logger log.Logger) error {
	have, err := s.read(ctx, conn)
	if err != nil {
		return err
	}
	if have == s.version {
		return nil
	}
	if have == "" {
		return s.setUp(ctx, conn, databaseURL, logger)
	}
	newer, err := isNewer(have, s.version)
	if err != nil {
		return err
	}
	if newer {
		return fmt.Errorf("%w: it has version %s, this program knows %s", ErrNewerDatabase, have, s.version)
	}
	return s.withTool(databaseURL, logger, func(tool *sql.Connection) error {
		return schema.NewUpdateSchemaTask(tool, &schema.UpdateConfig{SchemaName: s.assets}, logger).Run()
	})
}

// read returns the version of the tables, empty when there are none.
func (s temporalSchema) read(ctx context.Context, conn *pgx.Conn) (string, error) {
	table := pgx.Identifier{s.name, "schema_version"}.Sanitize()
	var exists bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&exists); err != nil || !exists {
		return "", err
	}
	var version string
	err := conn.QueryRow(ctx, "select curr_version from "+table+" where db_name = current_database()").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return version, err
}

// setUp creates the tables. Only the marker of an interrupted attempt of its own allows dropping anything.
func (s temporalSchema) setUp(ctx context.Context, conn *pgx.Conn, databaseURL string, logger log.Logger) error {
	var comment string
	const query = "select coalesce(obj_description(to_regnamespace($1), 'pg_namespace'), '')"
	if err := conn.QueryRow(ctx, query, s.name).Scan(&comment); err != nil {
		return err
	}
	quoted := pgx.Identifier{s.name}.Sanitize()
	if comment == unfinished {
		if _, err := conn.Exec(ctx, "drop schema "+quoted+" cascade"); err != nil {
			return fmt.Errorf("drop unfinished schema: %w", err)
		}
	}
	create := "create schema " + quoted + "; comment on schema " + quoted + " is '" + unfinished + "'"
	if _, err := conn.Exec(ctx, create); err != nil {
		return err
	}
	err := s.withTool(databaseURL, logger, func(tool *sql.Connection) error {
		config := &schema.SetupConfig{SchemaName: s.assets, InitialVersion: s.version}
		return schema.NewSetupSchemaTask(tool, config, logger).Run()
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "comment on schema "+quoted+" is '"+finished+"'")
	return err
}

func (s temporalSchema) withTool(databaseURL string, logger log.Logger, use func(*sql.Connection) error) error {
	store, err := sqlStore(databaseURL, s.name, 1)
	if err != nil {
		return err
	}
	tool, err := sql.NewConnection(store, logger)
	if err != nil {
		return err
	}
	defer tool.Close()
	return use(tool)
}

func isNewer(have, known string) (bool, error) {
	a, err := semver.NewVersion(have)
	if err != nil {
		return false, fmt.Errorf("read schema version %q: %w", have, err)
	}
	b, err := semver.NewVersion(known)
	if err != nil {
		return false, fmt.Errorf("read schema version %q: %w", known, err)
	}
	return a.GreaterThan(b), nil
}
