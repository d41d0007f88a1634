package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/iancoleman/strcase"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
)

// Connections of one pool. Each of the four services has one pool of each kind, all
// within max_connections of the bundled server.
const (
	mainConns       = 15
	visibilityConns = 5
)

// sqlStore makes the Temporal server keep a store in one schema of our database. Temporal's manual uses one
// database for each store; both stores in one schema is not possible, as both have a table schema_version.
func sqlStore(databaseURL, schema string, conns int) (*config.SQL, error) {
	parsed, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse database URL: %w", err)
	}
	parsed.RuntimeParams["search_path"] = schema
	parsed.RuntimeParams["application_name"] = "slipway temporal"
	return &config.SQL{
		PluginName:         postgresql.PluginNamePGX,
		DatabaseName:       parsed.Database,
		Connect:            func(*config.SQL) (*sqlx.DB, error) { return openPool(parsed, conns) },
		TaskScanPartitions: 1,
	}, nil
}

// openPool does the work of the server's own PostgreSQL session, for a URL of any form: the server's session
// accepts user, host and password only, and no socket.
func openPool(parsed *pgx.ConnConfig, conns int) (*sqlx.DB, error) {
	pool := stdlib.OpenDB(*parsed, stdlib.OptionAfterConnect(durationsAsNumbers))
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(time.Minute)
	db := sqlx.NewDb(pool, "pgx")
	db.MapperFunc(strcase.ToSnake)
	if err := db.Ping(); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// durationsAsNumbers maps time.Duration to bigint, the type in the server's tables; pgx would map it to an
// interval.
func durationsAsNumbers(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterDefaultPgType(time.Duration(0), "int8")
	conn.TypeMap().RegisterDefaultPgType((*time.Duration)(nil), "int8")
	return nil
}
