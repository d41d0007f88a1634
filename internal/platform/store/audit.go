package store

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// insertAudit appends a row. The cluster of a host or an InfraEnv is looked up where @belonging asks for it.
const insertAudit = `
	insert into audit (at, user_name, credential, token_id, org_id, role, address, operation, method, path, subject,
	  cluster_id, infra_env_id, host_id, request_id, detail, outcome, status, ended_at)
	select @at, @user_name, @credential, @token_id, @org_id, @role, @address, @operation, @method, @path, @subject,
	  coalesce(@cluster_id::uuid, case when @belonging then coalesce(
	    (select cluster_id from hosts where infra_env_id = @infra_env_id and id = @host_id and deleted_at is null),
	    (select cluster_id from infra_envs where id = @infra_env_id and deleted_at is null)) end),
	  @infra_env_id::uuid, @host_id::uuid, @request_id, @detail, @outcome, @status, @ended_at::timestamptz`

// auditArgs returns the columns of a row, within the lengths of the table. The row of a request of unknown scope names no other object than
// the request does.
func auditArgs(e *model.AuditEntry, belonging bool, at time.Time) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"at": at, "user_name": within(e.UserName, 256), "credential": e.Credential, "token_id": e.TokenID, "org_id": within(e.OrgID, 256),
		"role": within(e.Role, 32), "address": within(e.Address, 64), "operation": within(e.Operation, 64), "method": within(e.Method, 16),
		"path": within(e.Path, 160), "subject": within(e.Subject, 200), "cluster_id": e.ClusterID, "infra_env_id": e.InfraEnvID,
		"host_id": e.HostID, "request_id": within(e.RequestID, 64), "detail": within(e.Detail, 512), "outcome": e.Outcome, "status": e.Status,
		"belonging": belonging, "ended_at": nil,
	}
	if e.Outcome != model.AuditUnknown {
		args["ended_at"] = at
	}
	return args
}

// within cuts a text to a number of characters, and replaces what PostgreSQL or a terminal would not take.
func within(text string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	if runes := []rune(clean); len(runes) > limit {
		return string(runes[:limit])
	}
	return clean
}

// BeginAudit writes the row of a command that may have an effect now; EndAudit adds the outcome. It sets the id.
func (s *Store) BeginAudit(ctx context.Context, e *model.AuditEntry) error {
	e.At, e.Outcome = s.Now(), model.AuditUnknown
	err := s.pool.QueryRow(ctx, insertAudit+` returning id`, auditArgs(e, true, e.At)).Scan(&e.ID)
	if err != nil {
		return fmt.Errorf("write what user %s does: %w", e.UserName, err)
	}
	return nil
}

// EndAudit adds the outcome of a row that has begun, and objects that the command has made. A row has one outcome.
func (s *Store) EndAudit(ctx context.Context, e *model.AuditEntry) error {
	tag, err := s.pool.Exec(ctx, `
		update audit set outcome = $2, status = $3, ended_at = $4, cluster_id = coalesce(cluster_id, $5),
		  infra_env_id = coalesce(infra_env_id, $6), subject = case subject when '' then $7 else subject end
		where id = $1 and outcome = 'unknown'`,
		e.ID, e.Outcome, e.Status, s.Now(), e.ClusterID, e.InfraEnvID, within(e.Subject, 200))
	if err == nil && tag.RowsAffected() == 0 {
		err = model.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("write the outcome of row %d of the audit: %w", e.ID, err)
	}
	return nil
}

// AddAudit writes the row of a request that was refused before it could have an effect.
func (s *Store) AddAudit(ctx context.Context, e *model.AuditEntry) error {
	if _, err := s.pool.Exec(ctx, insertAudit, auditArgs(e, false, s.Now())); err != nil {
		return fmt.Errorf("write what user %s was refused: %w", e.UserName, err)
	}
	return nil
}

// Audit writes a decision into the audit, with the transaction.
func (t *Tx) Audit(e model.AuditEntry) {
	t.batch.Queue(insertAudit, auditArgs(&e, true, t.now))
}

// AuditFilter selects rows of the audit; zero fields do not restrict.
type AuditFilter struct {
	User, Operation               string
	ClusterID, InfraEnvID, HostID uuid.UUID
	Since, Until                  time.Time
	Outcome                       model.AuditOutcome
	// Own restricts to the rows of one user and organization.
	Own *TokenFilter
	// Before is the id of the last row of the page before; zero: the newest rows.
	Before int64
	Limit  int
}

var auditTable = tableOf[model.AuditEntry](layout{name: "audit", key: []string{"id"}})

// AuditEntries lists rows of the audit, newest first.
func (s *Store) AuditEntries(ctx context.Context, f AuditFilter) ([]model.AuditEntry, error) {
	args := pgx.NamedArgs{
		"user": f.User, "operation": f.Operation, "cluster": uuidOrNull(f.ClusterID), "infra_env": uuidOrNull(f.InfraEnvID),
		"host": uuidOrNull(f.HostID), "since": timeOrNull(f.Since), "until": timeOrNull(f.Until), "outcome": string(f.Outcome),
		"before": f.Before, "limit": f.Limit, "own": f.Own != nil, "own_user": "", "own_org": "",
	}
	if f.Own != nil {
		args["own_user"], args["own_org"] = f.Own.UserName, f.Own.OrgID
	}
	rows, err := s.pool.Query(ctx, `
		select `+auditTable.selects()+` from audit
		where (@user = '' or user_name = @user) and (@operation = '' or operation = @operation)
		  and (@cluster::uuid is null or cluster_id = @cluster)
		  and (@infra_env::uuid is null or infra_env_id = @infra_env)
		  and (@host::uuid is null or host_id = @host)
		  and (@since::timestamptz is null or at >= @since) and (@until::timestamptz is null or at < @until)
		  and (@outcome = '' or outcome = @outcome)
		  and (not @own or user_name = @own_user and org_id = @own_org)
		  and (@before = 0 or id < @before)
		order by id desc
		limit @limit`, args)
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e model.AuditEntry, err error) {
		err = auditTable.scan(row, &e)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	return entries, nil
}

func timeOrNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// PurgeAudit removes rows that are older than an instant, up to a limit, and returns their number. The table keeps rows of the last day
// even so.
func (s *Store) PurgeAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	purged := 0
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local slipway.purges_audit = 'yes'`); err != nil {
			return fmt.Errorf("begin a purge of the audit: %w", err)
		}
		tag, err := tx.Exec(ctx, `
			delete from audit where id in (
			  select id from audit where at < least($1, now() - interval '1 day') order by at limit $2)`, before, limit)
		if err != nil {
			return fmt.Errorf("purge the audit: %w", err)
		}
		purged = int(tag.RowsAffected())
		return nil
	})
	return purged, err
}
