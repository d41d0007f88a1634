package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// Rendering makes the texts of hosts that are kept beside their rows. Form is above zero, and another one when the texts of equal hosts
// are others; texts of another form are not read.
type Rendering struct {
	Form int16
	Keep func(*model.Host) []byte
}

func (r Rendering) render(h *model.Host) (text []byte, form int16) {
	if r.Keep == nil {
		return nil, 0
	}
	return r.Keep(h), r.Form
}

// unshown is the condition that a row has no text in the form of this program, as after an upgrade.
const unshown = `(h.shown is null or h.shown_form <> @form)`

var shownHostColumns = hostTable.selects(
	"connectivity", "case when @connectivity then h.connectivity end",
	"doc", "case when "+unshown+" then h.doc end",
	"facts", "null::jsonb",
)

// ShownHosts works as Hosts, for readers of texts: a host with a text has its columns and secrets only, others have no text.
func (s *Store) ShownHosts(ctx context.Context, f HostFilter, yield func(h *model.Host, text []byte) error) error {
	args := f.args()
	args["form"] = s.hosts.Form
	rows, err := s.pool.Query(ctx, `
		select `+shownHostColumns+`, case when not `+unshown+` then h.shown end
		from `+hostTables+` where `+filteredHosts+`
		order by h.created_at, h.id`, args)
	if err != nil {
		return fmt.Errorf("list hosts: %w", err)
	}
	type shown struct {
		host *model.Host
		text []byte
	}
	scan := func(from pgx.Row) (out shown, err error) {
		out.host, out.text, err = s.scanShown(from)
		return out, err
	}
	return visit(rows, scan, func(one shown) error { return yield(one.host, one.text) })
}

func (s *Store) scanShown(from pgx.Row) (*model.Host, []byte, error) {
	h := &model.Host{}
	row := hostRow{Host: h}
	var text []byte
	if err := hostTable.scan(from, &row, &text); err != nil {
		return nil, nil, err
	}
	if text == nil {
		if err := json.Unmarshal(row.Doc, h); err != nil {
			return nil, nil, fmt.Errorf("decode host %s: %w", h.ID, err)
		}
	}
	return h, text, s.openHost(h, row.Secrets)
}

// KeepTexts renders some of the hosts that have no text in the form of this program. It returns how many.
func (s *Store) KeepTexts(ctx context.Context, atMost int) (int, error) {
	kept := 0
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		hosts, err := s.unshownHosts(ctx, tx, atMost)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for _, h := range hosts {
			text, form := s.hosts.render(h)
			batch.Queue(`update hosts set shown = $3, shown_form = $4 where infra_env_id = $1 and id = $2`, h.InfraEnvID, h.ID, text, form)
		}
		kept = len(hosts)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return 0, fmt.Errorf("render hosts for lists: %w", err)
	}
	return kept, nil
}

// unshownHosts locks hosts without a text, except those that others have locked: they are written with one.
func (s *Store) unshownHosts(ctx context.Context, tx pgx.Tx, atMost int) ([]*model.Host, error) {
	rows, err := tx.Query(ctx, `
		select `+narrowHostColumns+` from `+hostTables+`
		where h.deleted_at is null and `+unshown+`
		limit @limit for update of h skip locked`, pgx.NamedArgs{"form": s.hosts.Form, "limit": atMost})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*model.Host, error) { return s.scanHost(row) })
}
