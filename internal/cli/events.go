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

type clusterEvents struct {
	clusterArgument
	Severity []wire.EventSeverity `enum:"info,warning,error,critical" default:"info,warning,error,critical" help:"Only events of these severities."`
	Follow   bool                 `short:"f" help:"Wait for further events and print them."`
}

// eventsPause is the time between two requests for more events.
const eventsPause = time.Second

// Run prints the events of a cluster, oldest first.
func (k *clusterEvents) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := k.find(ctx, c)
	if err != nil {
		return err
	}
	names := map[uuid.UUID]string{}
	for n := range cluster.Hosts {
		names[cluster.Hosts[n].ID] = view.HostName(&cluster.Hosts[n])
	}
	query := client.EventQuery{ClusterID: cluster.ID, Severities: k.Severity}
	for {
		events, err := c.Events(ctx, query)
		if err != nil {
			return failed(at.URL, "read the events of "+k.Cluster, err)
		}
		if err := printEvents(t, at.json(), events, names); err != nil || !k.Follow {
			return err
		}
		query.Offset += len(events)
		if hostexec.Sleep(ctx, eventsPause) != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
	}
}

func printEvents(t *Terminal, asJSON bool, events []wire.Event, names map[uuid.UUID]string) error {
	if asJSON {
		return t.json(events)
	}
	for _, e := range events {
		subject := "cluster"
		if e.HostID != uuid.Nil {
			subject = e.HostID.String()
			if name := names[e.HostID]; name != "" {
				subject = name
			}
		}
		t.printf("%s  %-8s  %-16s  %s\n", e.EventTime.Time().Local().Format(time.DateTime), e.Severity, subject, e.Message)
	}
	return nil
}
