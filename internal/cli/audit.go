package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// AuditCommand lists what users did.
type AuditCommand struct {
	Connection

	User      string        `help:"Only what this user did." placeholder:"NAME"`
	Cluster   string        `predictor:"cluster" help:"Only what concerned this cluster, by its name or id; by its id also when it is gone."`
	Operation string        `help:"Only this operation, by its id in the API document." placeholder:"ID"`
	Outcome   string        `enum:"ok,refused,failed,unknown," default:"" help:"Only ok, refused, failed or unknown: begun, without an answer."`
	Since     time.Duration `help:"Only the time until now, such as 24h or 7d." placeholder:"DURATION"`
	Limit     int           `default:"100" help:"How many rows at most, the newest."`
	Wide      bool          `help:"Also role, credential, token, address and request."`
	Watch     bool          `short:"w" help:"Show the list again when it changes, until interrupted."`
}

// auditPageSize is how many rows are asked for at once: the most that the service gives.
const auditPageSize = 1000

// Run prints the rows, oldest first.
func (k *AuditCommand) Run(ctx context.Context, t *Terminal) error {
	if k.Limit < 1 {
		return usagef("--limit: require at least 1, found %d", k.Limit)
	}
	query := client.AuditQuery{User: k.User, Operation: k.Operation, Outcome: k.Outcome}
	if k.Cluster != "" {
		var err error
		if query.ClusterID, err = clusterID(ctx, k.Client(), k.Cluster); err != nil {
			return err
		}
	}
	screen, last := t.Screen(), ""
	for {
		if k.Since > 0 {
			query.Since = t.Now().Add(-k.Since)
		}
		list, err := k.list(ctx, query)
		switch {
		case err == nil && !k.Watch:
			return k.printListed(t, list)
		case err == nil:
			if last, err = k.printChanged(t, screen, list, last); err != nil {
				return err
			}
		case k.Watch && ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how watching ends
		case !k.Watch || ExitCode(err) != exitUnreachable:
			return err
		}
		if hostexec.Sleep(ctx, eventsPause) != nil {
			return nil //nolint:nilerr // the same
		}
	}
}

// clusterID finds a cluster by its name; an id is taken as it is, because the audit outlives clusters.
func clusterID(ctx context.Context, c *client.Client, name string) (uuid.UUID, error) {
	if id, err := uuid.Parse(strings.TrimPrefix(name, kindCluster)); err == nil {
		return id, nil
	}
	cluster, err := clusterNamed(ctx, c, strings.TrimPrefix(name, kindCluster))
	if err != nil {
		return uuid.Nil, err
	}
	return cluster.ID, nil
}

// list reads pages until the limit, and lays them out.
func (k *AuditCommand) list(ctx context.Context, query client.AuditQuery) (listing, error) {
	c := k.Client()
	entries := []wire.AuditEntry{}
	for len(entries) < k.Limit {
		query.Limit = min(auditPageSize, k.Limit-len(entries))
		page, err := c.Audit(ctx, query)
		if err != nil {
			return listing{}, failed(k.URL, "read the audit", err)
		}
		entries = append(entries, page.Entries...)
		if query.PageToken = page.NextPageToken; query.PageToken == "" {
			break
		}
	}
	slices.Reverse(entries)
	if k.forPrograms() {
		return listing{answer: entries}, nil
	}
	return listing{entries, k.rows(entries, namesIn(ctx, c, entries))}, nil
}

func (k *AuditCommand) rows(entries []wire.AuditEntry, names map[uuid.UUID]string) *view.Table {
	table := &view.Table{Header: []string{"TIME", "USER", "OPERATION", "OUTCOME", "ABOUT"}}
	if k.Wide {
		table.Header = []string{"TIME", "USER", "ROLE", "CREDENTIAL", "TOKEN", "ADDRESS", "REQUEST", "OPERATION", "OUTCOME", "ABOUT"}
	}
	for i := range entries {
		e := &entries[i]
		cells := []string{e.At.Time().Local().Format(time.DateTime), cmp.Or(e.UserName, "-")}
		if k.Wide {
			cells = append(cells, cmp.Or(e.Role, "-"), e.Credential, idText(e.TokenID), cmp.Or(e.Address, "-"), cmp.Or(e.RequestID, "-"))
		}
		table.Add(append(cells, e.Operation, outcomeText(e), about(e, names))...)
	}
	return table
}

func outcomeText(e *wire.AuditEntry) string {
	if e.Status == 0 {
		return e.Outcome
	}
	return e.Outcome + " " + strconv.Itoa(e.Status)
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return "-"
	}
	return id.String()
}

// about names the objects of a row.
func about(e *wire.AuditEntry, names map[uuid.UUID]string) string {
	var parts []string
	for _, object := range []struct {
		kind string
		id   *uuid.UUID
	}{{kindCluster, e.ClusterID}, {kindHost, e.HostID}, {kindInfraEnv, e.InfraEnvID}} {
		if object.id == nil || object.kind == kindInfraEnv && e.HostID != nil {
			continue
		}
		parts = append(parts, object.kind+cmp.Or(names[*object.id], object.id.String()))
	}
	for _, text := range []string{e.Subject, e.Detail} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "  ")
}

// namesIn returns the names of the objects of rows that still exist, where the caller may list them; others are shown by their ids.
func namesIn(ctx context.Context, c *client.Client, entries []wire.AuditEntry) map[uuid.UUID]string {
	names := map[uuid.UUID]string{}
	has := func(id func(*wire.AuditEntry) *uuid.UUID) bool {
		return slices.ContainsFunc(entries, func(e wire.AuditEntry) bool { return id(&e) != nil })
	}
	hosts := has(func(e *wire.AuditEntry) *uuid.UUID { return e.HostID })
	if hosts || has(func(e *wire.AuditEntry) *uuid.UUID { return e.ClusterID }) {
		clusters, _ := c.ListClusters(ctx, hosts)
		for i := range clusters {
			names[clusters[i].ID] = clusters[i].Name
			for n := range clusters[i].Hosts {
				names[clusters[i].Hosts[n].ID] = view.HostName(&clusters[i].Hosts[n])
			}
		}
	}
	if has(func(e *wire.AuditEntry) *uuid.UUID { return e.InfraEnvID }) {
		envs, _ := c.ListInfraEnvs(ctx, uuid.Nil)
		for i := range envs {
			names[envs[i].ID] = envs[i].Name
		}
	}
	return names
}
