package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// operatorRow is a row of table monitored_operators.
type operatorRow struct {
	*model.MonitoredOperator
	Seconds int64 `db:"timeout_seconds"`
}

// reported are the columns that reports of a controller write.
var reported = []string{"version", "status", "status_info", "status_updated_at"}

var operatorTable = tableOf[operatorRow](layout{
	name: "monitored_operators", alias: "o",
	key:  []string{"cluster_id", "name"},
	once: []string{"type"},
	read: map[string]string{"version": "", "status": "", "status_info": "", "status_updated_at": ""},
})

var operatorColumns = operatorTable.selects()

func rowOfOperator(o *model.MonitoredOperator) *operatorRow {
	return &operatorRow{o, int64(o.Timeout / time.Second)}
}

func scanOperator(from pgx.Row) (o model.MonitoredOperator, err error) {
	row := operatorRow{MonitoredOperator: &o}
	err = operatorTable.scan(from, &row)
	o.Timeout = time.Duration(row.Seconds) * time.Second
	return o, err
}

// Operators writes the operators a cluster waits for and keeps their reported states.
func (t *Tx) Operators(operators ...model.MonitoredOperator) {
	for _, o := range operators {
		sql, args := operatorTable.insert(operatorTable.record(rowOfOperator(&o)))
		t.batch.Queue(sql+` on conflict (cluster_id, name) do update set `+operatorTable.excluded("type", "o.type"), args...)
	}
}

// ResetOperators clears the reported states of the operators of a cluster.
func (t *Tx) ResetOperators(clusterID uuid.UUID) {
	t.batch.Queue(`
		update monitored_operators set status = '', status_info = '', status_updated_at = null
		where cluster_id = $1`, clusterID)
}

// MonitoredOperators lists the operators a cluster waits for, by name.
func (s *Store) MonitoredOperators(ctx context.Context, clusterID uuid.UUID) ([]model.MonitoredOperator, error) {
	rows, err := s.pool.Query(ctx, `
		select `+operatorColumns+` from monitored_operators o
		where o.cluster_id = $1
		order by o.name`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list monitored operators: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.MonitoredOperator, error) { return scanOperator(row) })
}

// ReportOperator records the state of one operator and what fn adds; it returns an
// ErrNotFound for an operator the cluster does not wait for.
func (s *Store) ReportOperator(ctx context.Context, o model.MonitoredOperator, fn func(*Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		o.StatusUpdatedAt = t.now
		sql, args := operatorTable.updateOnly(operatorTable.record(rowOfOperator(&o)), reported...)
		tag, err := tx.Exec(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("report operator %s: %w", o.Name, err)
		}
		if tag.RowsAffected() == 0 {
			return model.NotFoundf("operator %s is not monitored in cluster %s", o.Name, o.ClusterID)
		}
		fn(t)
		return t.flush(ctx, tx)
	})
}

// DropOperators forgets the operators of a type that a cluster does not wait for any
// more: all but those kept.
func (t *Tx) DropOperators(clusterID uuid.UUID, kind string, keep []string) {
	t.batch.Queue(`
		delete from monitored_operators
		where cluster_id = $1
		  and type = $2
		  and name <> all ($3)`, clusterID, kind, keep)
}
