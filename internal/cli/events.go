package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// eventFlags narrow and follow the events of an object.
type eventFlags struct {
	Severity []wire.EventSeverity `enum:"info,warning,error,critical" default:"info,warning,error,critical" help:"Only events of these severities."`
	Since    time.Duration        `help:"Only events of the time until now, such as 24h or 7d." placeholder:"DURATION"`
	Limit    int                  `help:"How many at most, the newest; without it, all." placeholder:"NUMBER"`
	Follow   bool                 `short:"f" help:"Wait for further events and print them; JSON is one line an event."`
}

type clusterEvents struct {
	clusterArgument
	eventFlags
}

// Run prints the events of a cluster, oldest first.
func (k *clusterEvents) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := k.find(ctx, at.Client())
	if err != nil {
		return err
	}
	names := map[uuid.UUID]string{uuid.Nil: "cluster"}
	for n := range cluster.Hosts {
		names[cluster.Hosts[n].ID] = view.HostName(&cluster.Hosts[n])
	}
	return k.show(ctx, &at.Connection, t, client.EventQuery{ClusterID: cluster.ID}, k.Cluster, names)
}

type hostEvents struct {
	hostArgument
	eventFlags
}

// Run prints the events of a host, oldest first.
func (k *hostEvents) Run(ctx context.Context, at *HostCommands, t *Terminal) error {
	h, err := k.find(ctx, at.Client())
	if err != nil {
		return err
	}
	query := client.EventQuery{InfraEnvID: h.InfraEnvID, HostID: h.ID}
	return k.show(ctx, &at.Connection, t, query, k.Host, map[uuid.UUID]string{h.ID: view.HostName(h)})
}

// eventsPause is the time between two requests for more events.
const eventsPause = time.Second

// show prints the events of a query; of names their object in errors, names are the subjects by the id of their host.
func (f eventFlags) show(ctx context.Context, at *Connection, t *Terminal, query client.EventQuery, of string,
	names map[uuid.UUID]string,
) error {
	if f.Limit < 0 || f.Since < 0 {
		return usagef("require --limit of at least 0, which is all, and --since such as 24h, found %d and %s", f.Limit, f.Since)
	}
	query.Severities = f.Severity
	for first := true; ; first = false {
		events, err := f.read(ctx, at.Client(), t, query)
		if err != nil && f.Follow && ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
		if err != nil {
			return failed(at.URL, "read the events of "+of, err)
		}
		shown := events
		if first {
			shown = f.newest(t, events)
		}
		if err := f.print(at, t, shown, names); err != nil || !f.Follow {
			return err
		}
		query.Offset += len(events)
		if hostexec.Sleep(ctx, eventsPause) != nil {
			return nil //nolint:nilerr // the same
		}
	}
}

// read reads the events of a query, oldest first: in pages from the newest one where only these are wanted and the service has pages, else
// all of them.
func (f eventFlags) read(ctx context.Context, c *client.Client, t *Terminal, query client.EventQuery) ([]wire.Event, error) {
	if f.Follow || f.Limit == 0 && f.Since == 0 {
		return c.Events(ctx, query)
	}
	wanted := client.EventPageQuery{
		ClusterID: query.ClusterID, InfraEnvID: query.InfraEnvID, HostID: query.HostID, Severities: query.Severities, Since: f.since(t),
	}
	events, err := pages(f.Limit, eventsPageSize, func(page client.Page) ([]wire.Event, string, error) {
		wanted.Page = page
		found, err := c.EventPage(ctx, wanted)
		return found.Events, found.NextPageToken, err
	})
	if errors.Is(err, model.ErrNotFound) {
		return c.Events(ctx, query)
	}
	slices.Reverse(events)
	return events, err
}

// eventsPageSize is how many events are asked for at once: the most that the service gives.
const eventsPageSize = 1000

// since returns when the events that are wanted begin; zero: any.
func (f eventFlags) since(t *Terminal) time.Time { return beginOf(t, f.Since) }

// newest returns the events that are wanted of a list, oldest first.
func (f eventFlags) newest(t *Terminal, events []wire.Event) []wire.Event {
	since := f.since(t)
	wanted := []wire.Event{} // which is no null in JSON
	for _, e := range events {
		if !e.EventTime.Time().Before(since) {
			wanted = append(wanted, e)
		}
	}
	if f.Limit > 0 && len(wanted) > f.Limit {
		return wanted[len(wanted)-f.Limit:]
	}
	return wanted
}

func (f eventFlags) print(at *Connection, t *Terminal, events []wire.Event, names map[uuid.UUID]string) error {
	if at.forPrograms() && !f.Follow {
		return at.print(t, events)
	}
	for _, e := range events {
		if at.forPrograms() {
			if err := at.printNext(t, e); err != nil {
				return err
			}
			continue
		}
		subject := names[e.HostID]
		if subject == "" {
			subject = e.HostID.String()
		}
		t.printf("%s  %-8s  %-16s  %s\n", e.EventTime.Time().Local().Format(time.DateTime), e.Severity, subject, view.OneLine(e.Message))
	}
	return nil
}
