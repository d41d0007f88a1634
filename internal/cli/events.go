package cli

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// eventFlags narrow and follow the events of an object.
type eventFlags struct {
	Severity []wire.EventSeverity `enum:"info,warning,error,critical" default:"info,warning,error,critical" help:"Only events of these severities."`
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
	query.Severities = f.Severity
	for {
		events, err := at.Client().Events(ctx, query)
		if err != nil && f.Follow && ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
		if err != nil {
			return failed(at.URL, "read the events of "+of, err)
		}
		if err := f.print(at, t, events, names); err != nil || !f.Follow {
			return err
		}
		query.Offset += len(events)
		if hostexec.Sleep(ctx, eventsPause) != nil {
			return nil //nolint:nilerr // the same
		}
	}
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
