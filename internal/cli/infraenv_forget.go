package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"slipway/internal/wire"
)

// forgotAtOnce is how many hosts are deleted at once.
const forgotAtOnce = 8

// infraEnvForget deletes many hosts, such as those that someone registered with a discovery image.
type infraEnvForget struct {
	infraEnvArgument
	Status []wire.HostStatus `required:"" help:"Hosts with one of these statuses." placeholder:"STATUS"`
	Silent time.Duration     `help:"Only hosts that have not called for so long." placeholder:"DURATION"`
	DryRun bool              `help:"Count them, and delete none."`
}

// Run deletes the hosts, and continues after one that cannot be deleted.
func (k *infraEnvForget) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	if err := checkStatuses(k.Status); err != nil {
		return err
	}
	c := at.Client()
	env, err := k.find(ctx, c)
	if err != nil {
		return err
	}
	hosts, err := c.ListHosts(ctx, env.ID)
	if err != nil {
		return failed(at.URL, "list the hosts of "+k.name(), err)
	}
	hosts = slices.DeleteFunc(hosts, func(h wire.Host) bool { return !k.wants(&h, t.Now()) })
	if k.DryRun {
		t.printf("%d hosts of InfraEnv %s would be deleted\n", len(hosts), env.Name)
		return nil
	}
	deleted, err := k.forget(ctx, at, hosts)
	t.printf("%d of %d hosts of InfraEnv %s deleted\n", deleted, len(hosts), env.Name)
	if err != nil {
		return fmt.Errorf("%d hosts are not deleted: %w", len(hosts)-deleted, err)
	}
	return nil
}

// forget deletes hosts, and returns how many are, and the first error.
func (k *infraEnvForget) forget(ctx context.Context, at *InfraEnvCommands, hosts []wire.Host) (int, error) {
	c := at.Client()
	errs := make([]error, len(hosts))
	var group errgroup.Group
	group.SetLimit(forgotAtOnce)
	for n := range hosts {
		group.Go(func() error {
			if errs[n] = ctx.Err(); errs[n] == nil {
				errs[n] = c.DeleteHost(ctx, hosts[n].InfraEnvID, hosts[n].ID)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in the list
	deleted := len(hosts)
	var first error
	for n, err := range errs {
		if err == nil {
			continue
		}
		deleted--
		if first == nil {
			first = failed(at.URL, "delete host "+hosts[n].ID.String(), err)
		}
	}
	return deleted, first
}

func (k *infraEnvForget) wants(h *wire.Host, now time.Time) bool {
	return slices.Contains(k.Status, h.Status) && (k.Silent == 0 || now.Sub(h.CheckedInAt.Time()) >= k.Silent)
}
