package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"slipway/internal/model"
)

// Rendering makes the texts of hosts and clusters that are kept beside their rows; for an empty text readers read the row. Form is above
// zero, and another one when the texts of equal rows are others; texts of another form are not read.
type Rendering struct {
	Form    int16
	Host    func(*model.Host) (text, inventory []byte)
	Cluster func(*model.Cluster) []byte
}

func (r Rendering) host(h *model.Host) (text, inventory []byte, form int16) {
	if r.Form == 0 {
		return nil, nil, 0
	}
	text, inventory = r.Host(h)
	return text, inventory, r.Form
}

func (r Rendering) cluster(c *model.Cluster) (text []byte, form int16) {
	if r.Form == 0 {
		return nil, 0
	}
	return r.Cluster(c), r.Form
}

// unshown returns the condition that a row has no text in the form of this program, as after an upgrade.
func unshown(alias string) string {
	return `(` + alias + `.shown is null or ` + alias + `.shown_form <> @form)`
}

// unreadable returns the condition that readers need all of a row.
func unreadable(alias string) string {
	return `(` + unshown(alias) + ` or octet_length(` + alias + `.shown) = 0)`
}

// shownText returns the expression of the text of a row; null: readers need all of it.
func shownText(alias string) string {
	return `case when not ` + unreadable(alias) + ` then ` + alias + `.shown end`
}

var shownHostColumns = hostTable.selects(
	"connectivity", "case when @connectivity then h.connectivity end",
	"doc", "case when "+unreadable("h")+" then h.doc end",
	"facts", "null::jsonb",
)

// ShownHosts works as Hosts, for readers of texts: a host with a text has its columns and secrets only, others have no text. Texts of
// inventories are read when the filter asks for them. The host and the texts are valid until yield returns: a thousand of them are made
// for each reader.
func (s *Store) ShownHosts(ctx context.Context, f HostFilter, yield func(h *model.Host, text, inventory []byte) error) error {
	args := f.args()
	args["form"] = s.rendering.Form
	from, order := hostTables, ""
	if f.Clusters != nil {
		args["clusters"] = f.Clusters
		from += ` join clusters c on c.id = h.cluster_id and c.id = any (@clusters)`
		order = "c.created_at desc, c.id, "
	}
	rows, err := s.pool.Query(ctx, `
		select `+shownHostColumns+`, `+shownText("h")+`, case when @inventory then h.shown_inventory end
		from `+from+` where `+filteredHosts+`
		order by `+order+`h.created_at, h.id `+page, args)
	if err != nil {
		return fmt.Errorf("list hosts: %w", err)
	}
	row := hostRow{Host: &model.Host{}}
	var text, inventory pgtype.DriverBytes
	targets := append(hostTable.targets(&row, 2), &text, &inventory)
	read := func(from pgx.Row) (*model.Host, error) {
		*row.Host = model.Host{}
		if err := from.Scan(targets...); err != nil {
			return nil, err
		}
		return row.Host, s.decodeHost(&row)
	}
	return visit(rows, read, func(h *model.Host) error { return yield(h, text, inventory) })
}

var shownClusterColumns = clusterTable.selects("doc", "case when "+unreadable("c")+" then c.doc end")

// ShownClusters works as Clusters, for readers of texts: a cluster with a text has its columns and secrets only, others have no text.
func (s *Store) ShownClusters(ctx context.Context, f ClusterFilter, yield func(c *model.Cluster, text []byte) error) error {
	args := f.args()
	args["form"] = s.rendering.Form
	rows, err := s.pool.Query(ctx, `
		select `+shownClusterColumns+`, `+shownText("c")+`
		from `+clusterTables+` where `+filteredClusters+`
		order by c.created_at desc, c.id `+page, args)
	if err != nil {
		return fmt.Errorf("list clusters: %w", err)
	}
	type shown struct {
		cluster *model.Cluster
		text    []byte
	}
	read := func(from pgx.Row) (out shown, err error) {
		out.cluster, err = s.scanClusterAnd(from, &out.text)
		return out, err
	}
	return visit(rows, read, func(one shown) error { return yield(one.cluster, one.text) })
}

// KeepTexts renders some of the hosts and clusters that have no text in the form of this program, at most so many of each. It returns
// whether there may be more.
func (s *Store) KeepTexts(ctx context.Context, atMost int) (more bool, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		hosts, err := s.unshownHosts(ctx, tx, atMost)
		if err != nil {
			return err
		}
		clusters, err := s.unshownClusters(ctx, tx, atMost)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for _, h := range hosts {
			text, inventory, form := s.rendering.host(h)
			batch.Queue(`update hosts set shown = $3, shown_inventory = $4, shown_form = $5 where infra_env_id = $1 and id = $2`,
				h.InfraEnvID, h.ID, text, inventory, form)
		}
		for _, c := range clusters {
			text, form := s.rendering.cluster(c)
			batch.Queue(`update clusters set shown = $2, shown_form = $3 where id = $1`, c.ID, text, form)
		}
		more = len(hosts) == atMost || len(clusters) == atMost
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return false, fmt.Errorf("render rows for lists: %w", err)
	}
	return more, nil
}

// unshownHosts locks hosts without a text, except those that others have locked: they are written with one.
func (s *Store) unshownHosts(ctx context.Context, tx pgx.Tx, atMost int) ([]*model.Host, error) {
	rows, err := tx.Query(ctx, `
		select `+narrowHostColumns+` from `+hostTables+`
		where h.deleted_at is null and `+unshown("h")+`
		limit @limit for update of h skip locked`, pgx.NamedArgs{"form": s.rendering.Form, "limit": atMost})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*model.Host, error) { return s.scanHost(row) })
}

// unshownClusters locks clusters as unshownHosts does.
func (s *Store) unshownClusters(ctx context.Context, tx pgx.Tx, atMost int) ([]*model.Cluster, error) {
	rows, err := tx.Query(ctx, `
		select `+clusterColumns+` from `+clusterTables+`
		where c.deleted_at is null and `+unshown("c")+`
		limit @limit for update of c skip locked`, pgx.NamedArgs{"form": s.rendering.Form, "limit": atMost})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*model.Cluster, error) { return s.scanCluster(row) })
}
