package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli"
	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/site"
	"slipway/internal/wire"
)

// installation brings one cluster of the plan from its definition to its end.
type installation struct {
	*demo
	plan     clusterPlan
	machines context.Context //nolint:containedctx // machines outlive the installation
	client   *client.Client
	id       uuid.UUID
	infraEnv uuid.UUID
	place    *site.Site
	boot     func(hostPlan) error // starts a machine with the discovery image
	// reported are the failures of hosts that were shown: when each came.
	reported map[uuid.UUID]wire.DateTime
}

// result is an installed cluster.
type result struct {
	name       string
	took       time.Duration // from the order to install
	kubeconfig string
}

const (
	// lookEvery is the time between two looks at a cluster.
	lookEvery = time.Second
	// patience is how long discovery may stand still before what is missing is shown.
	patience = 30 * time.Second
	// idleLooks is the number of looks after which a cluster that is not being installed has left its preparation, rather than not begun it
	// yet.
	idleLooks = 5
	// callLimit is how long a call is tried again while the service does not answer.
	callLimit = 5 * time.Minute
)

func (c *installation) run(ctx context.Context) (result, error) {
	c.client = c.service.client
	if err := c.define(ctx); err != nil {
		return result{}, fmt.Errorf("define cluster %s: %w", c.plan.Name, err)
	}
	if err := c.discover(ctx); err != nil {
		return result{}, fmt.Errorf("discover the hosts of cluster %s: %w", c.plan.Name, err)
	}
	began := c.terminal.Now()
	if _, err := c.client.InstallCluster(ctx, c.id); err != nil {
		return result{}, fmt.Errorf("install cluster %s: %w", c.plan.Name, err)
	}
	if err := c.watch(ctx); err != nil {
		return result{}, err
	}
	took := c.terminal.Now().Sub(began)
	if err := c.prove(ctx); err != nil {
		return result{}, err
	}
	content, err := c.client.ClusterCredentialsFile(ctx, c.id, "kubeconfig", client.WithRetry(callLimit))
	if err != nil {
		return result{}, fmt.Errorf("download the kubeconfig of cluster %s: %w", c.plan.Name, err)
	}
	path, err := c.keep(c.plan.Name, content)
	if err == nil {
		err = c.addHosts(ctx)
	}
	return result{name: c.plan.Name, took: took, kubeconfig: path}, err
}

// look reads the cluster and shows it.
func (c *installation) look(ctx context.Context) (*wire.Cluster, error) {
	cluster, err := c.client.Cluster(ctx, c.id, client.WithRetry(callLimit))
	if err == nil {
		c.board.set(cluster)
	}
	return cluster, err
}

// discover waits for the hosts, gives the cluster its addresses and waits until it is ready.
func (c *installation) discover(ctx context.Context) error {
	known := func(cluster *wire.Cluster) bool {
		return len(cluster.Hosts) == len(c.plan.hosts) &&
			!slices.ContainsFunc(cluster.Hosts, func(h wire.Host) bool { return h.Inventory == "" })
	}
	if c.plan.lateBinding {
		if err := c.bindAll(ctx); err != nil {
			return err
		}
	}
	if err := c.until(ctx, "all hosts to be discovered", known); err != nil {
		return err
	}
	if len(c.plan.api) > 0 {
		api, ingress := []wire.APIVip{}, []wire.IngressVip{}
		for n := range c.plan.api {
			api, ingress = append(
				api,
				wire.APIVip{IP: c.plan.api[n].String()},
			), append(
				ingress,
				wire.IngressVip{IP: c.plan.ingress[n].String()},
			)
		}
		_, err := c.client.UpdateCluster(ctx, c.id, wire.V2ClusterUpdateParams{APIVips: &api, IngressVips: &ingress})
		if err != nil {
			return fmt.Errorf("set the virtual addresses: %w", err)
		}
	}
	return c.until(ctx, "the cluster to be ready", func(cluster *wire.Cluster) bool { return cluster.Status == wire.ClusterStatusReady })
}

// until waits until something holds; when that takes long it says what is missing.
func (c *installation) until(ctx context.Context, what string, holds func(*wire.Cluster) bool) error {
	late := c.terminal.Now().Add(patience)
	for {
		cluster, err := c.look(ctx)
		if err != nil || holds(cluster) {
			return err
		}
		if c.terminal.Now().After(late) {
			late = late.Add(patience)
			c.board.say("cluster %s: still waiting for %s%s", cluster.Name, what, missing(cluster))
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// missing lists what keeps a cluster from being ready.
func missing(cluster *wire.Cluster) string {
	var lines []string
	for _, v := range view.Failing(cluster.ValidationsInfo, true) {
		lines = append(lines, "  "+v.ID+": "+v.Message)
	}
	for n := range cluster.Hosts {
		for _, v := range view.Failing(cluster.Hosts[n].ValidationsInfo, false) {
			lines = append(lines, "  "+view.HostName(&cluster.Hosts[n])+": "+v.ID+": "+v.Message)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ":\n" + strings.Join(lines, "\n")
}

// watch follows the installation to its end. A host that fails is shown with the command
// that starts it again; when its failure was asked for, the wait continues for that.
func (c *installation) watch(ctx context.Context) error {
	idle := 0 // looks in a row that saw no installation
	for {
		cluster, err := c.look(ctx)
		if err != nil {
			return fmt.Errorf("watch cluster %s: %w", c.plan.Name, err)
		}
		idle++
		switch cluster.Status {
		case wire.ClusterStatusInstalled:
			return nil
		case wire.ClusterStatusCancelled:
			return fmt.Errorf("cluster %s: the installation was cancelled", cluster.Name)
		case wire.ClusterStatusReady, wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
			if idle >= idleLooks {
				return fmt.Errorf("cluster %s was not installed, its preparation failed%s", cluster.Name, missing(cluster))
			}
		default:
			idle = 0
		}
		failed, err := c.failures(ctx, cluster)
		if err != nil {
			return err
		}
		if cluster.Status == wire.ClusterStatusError && !failed {
			return fmt.Errorf("cluster %s failed: %s", cluster.Name, view.OneLine(cluster.StatusInfo))
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// failures shows hosts that failed and reports whether there are any.
func (c *installation) failures(ctx context.Context, cluster *wire.Cluster) (bool, error) {
	failed := false
	for n := range cluster.Hosts {
		h := &cluster.Hosts[n]
		if h.Status != wire.HostStatusError {
			continue
		}
		failed = true
		if at, known := c.reported[h.ID]; known && at.Time().Equal(h.StatusUpdatedAt.Time()) {
			continue
		}
		c.reported[h.ID] = h.StatusUpdatedAt
		if err := c.failure(ctx, cluster, h); err != nil {
			return true, err
		}
	}
	return failed, nil
}

func (c *installation) failure(ctx context.Context, cluster *wire.Cluster, h *wire.Host) error {
	name, command := view.HostName(h), cli.RetryCommand(c.service.url, cluster, h)
	c.board.say("host %s failed at %q: %s", name, h.Progress.CurrentStage, view.OneLine(h.StatusInfo))
	switch {
	case c.AutoRetry:
		c.board.say("retrying host %s", name)
		if err := c.client.RetryHost(ctx, h.InfraEnvID, h.ID); err != nil {
			c.board.say("host %s not retried: %s", name, err)
		}
		return nil
	case c.plan.troubled(name):
		c.board.say("waiting for somebody to start it again:\n  %s", command)
		return nil
	}
	return fmt.Errorf("host %s of cluster %s failed at %q: %s (to start it again with a service that keeps running: %s; its log: %s)",
		name, cluster.Name, h.Progress.CurrentStage, view.OneLine(h.StatusInfo), command, filepath.Join(c.folder(), name, "machine.log"))
}
