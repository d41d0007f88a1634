package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// BeginPreparation freezes roles, elects the bootstrap host, lets the hosts prepare, and returns the plan. The plan of an installation
// that is past its preparation says so. It fails with FailureRefused when the cluster returned to discovery instead, and with
// FailureSuperseded when the attempt is over.
func (a *Clusters) BeginPreparation(ctx context.Context, r InstallRequest) (Plan, error) {
	var plan Plan
	refused := ""
	err := transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		refused = ""
		if err := r.present(c); err != nil {
			return err
		}
		if c.Status != model.ClusterPreparingForInstallation {
			plan = a.plan(c, hosts)
			plan.Continues, plan.Age = true, max(tx.Now().Sub(c.InstallStartedAt), 0)
			if c.DecisionOpen {
				plan.Stalled = c.StatusInfo
			}
			return nil
		}
		if problem := unready(hosts); problem != "" {
			refused = problem
			return abandon(tx, c, hosts, problem)
		}
		for _, h := range hosts {
			if interrupted.Has(h.Status) {
				if _, err := lifecycle.ApplyHost(h, lifecycle.PreparationStopped, transitions.HostFacts(h, c, tx), tx); err != nil {
					return err
				}
			}
			if h.Role == model.RoleAutoAssign {
				h.Role, h.AutoRole = h.EffectiveRole(), true
			}
			if _, err := lifecycle.ApplyHost(h, lifecycle.PrepareHost, transitions.HostFacts(h, c, tx), tx); err != nil {
				return err
			}
		}
		electBootstrap(tx, hosts)
		plan = a.plan(c, hosts)
		return nil
	})
	if err != nil {
		return Plan{}, nonRetryable(err)
	}
	if refused != "" {
		return Plan{}, temporal.NewNonRetryableApplicationError(refused, FailureRefused, nil)
	}
	return plan, nil
}

// plan freezes what the workflow of a cluster orders by.
func (a *Clusters) plan(c *model.Cluster, hosts []*model.Host) Plan {
	plan := Plan{
		ClusterID: c.ID, Name: c.Name, Version: c.OpenShiftVersion, Attempt: c.InstallAttempt, SingleNode: c.SingleNode(),
		Timeouts: a.Timeouts.of(c),
	}
	for _, h := range planOrder(hosts) {
		plan.Hosts = append(plan.Hosts, HostPlan{
			ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.Hostname(), Role: h.Role, Bootstrap: h.Bootstrap, AgentSteps: h.AgentSteps,
		})
	}
	return plan
}

// planOrder sorts hosts the way a plan lists them: bootstrap, masters, arbiters,
// workers, each by name.
func planOrder(hosts []*model.Host) []*model.Host {
	rank := func(h *model.Host) int {
		switch {
		case h.Bootstrap:
			return 0
		case h.Role == model.RoleMaster:
			return 1
		case h.Role == model.RoleArbiter:
			return 2
		}
		return 3
	}
	sorted := slices.Clone(hosts)
	slices.SortStableFunc(sorted, func(a, b *model.Host) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Hostname(), b.Hostname()), slices.Compare(a.ID[:], b.ID[:]))
	})
	return sorted
}

// interrupted are the statuses of a host whose preparation had an outcome when its workflow was ended in Temporal: it is
// prepared again.
var interrupted = model.HostStatuses{model.HostPreparingSuccessful, model.HostPreparingFailed}

// unready names the first host that cannot be prepared.
func unready(hosts []*model.Host) string {
	if len(hosts) == 0 {
		return "the cluster has no hosts"
	}
	for _, h := range hosts {
		if h.Status != model.HostKnown && h.Status != model.HostPreparingForInstallation && !interrupted.Has(h.Status) {
			return fmt.Sprintf("host %s is %s (%s)", h.Hostname(), h.Status, h.StatusInfo)
		}
	}
	return ""
}

func electBootstrap(tx *store.Tx, hosts []*model.Host) {
	for _, h := range hosts {
		if h.Bootstrap {
			return
		}
	}
	if chosen := lifecycle.ElectBootstrap(hosts); chosen != nil {
		chosen.Bootstrap = true
		tx.Event(events.New(events.HostBootstrapSet, lifecycle.AboutHost(chosen), nil, tx.Now()))
	}
}

// ConcludePreparation starts the installation when every host and the Ignition files are ready, or returns the cluster
// to discovery. It returns why it is not ready, by the workflow or by its hosts. It fails with FailureSuperseded for an
// installation that is over.
func (a *Clusters) ConcludePreparation(ctx context.Context, r PreparationConclusion) (PreparationOutcome, error) {
	if err := a.Evaluation.RefreshCluster(ctx, r.ClusterID); err != nil {
		return PreparationOutcome{}, nonRetryable(err)
	}
	var problem string
	err := transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		problem = r.Outcome.Reason
		if problem == "" && !r.Outcome.Ready {
			problem = "not every host was prepared"
		}
		switch {
		case c.Status != model.ClusterPreparingForInstallation && r.present(c) == nil:
			problem = "" // this ran already, and its workflow may have been reset in Temporal since
			return nil
		case c.Status == model.ClusterInstalled || c.InstallAttempt != r.Attempt:
			return superseded("installation %d of cluster %s is over: it is %s", r.Attempt, c.Name, c.Status)
		case c.Status != model.ClusterPreparingForInstallation:
			problem = fmt.Sprintf("the cluster is %s", c.Status)
			return nil
		}
		if problem == "" {
			problem = unprepared(hosts)
		}
		if problem != "" {
			return abandon(tx, c, hosts, problem)
		}
		if err := install(tx, c, hosts); err != nil {
			return err
		}
		tx.Operators(operators.Builtin(c, a.CheckClusterVersion)...)
		return nil
	})
	return PreparationOutcome{Ready: problem == "", Reason: problem}, nonRetryable(err)
}

// install lets a prepared cluster and its hosts be installed.
func install(tx *store.Tx, c *model.Cluster, hosts []*model.Host) error {
	c.LastPreparation = model.Preparation{Status: lifecycle.PreparationSuccess}
	if _, err := lifecycle.ApplyCluster(c, lifecycle.PreparationEnded, transitions.ClusterFacts(c, hosts, tx), tx); err != nil {
		return err
	}
	for _, h := range hosts {
		if _, err := lifecycle.ApplyHost(h, lifecycle.InstallationBegins, transitions.HostFacts(h, c, tx), tx); err != nil {
			return err
		}
		tx.Event(events.New(events.HostInstallationStarted, lifecycle.AboutHost(h), nil, tx.Now()))
	}
	return nil
}

// unprepared names the hosts whose checks failed.
func unprepared(hosts []*model.Host) string {
	if len(hosts) == 0 {
		return "the cluster has no hosts"
	}
	var bad []string
	for _, h := range hosts {
		if h.Status != model.HostPreparingSuccessful {
			bad = append(bad, fmt.Sprintf("%s is %s (%s)", h.Hostname(), h.Status, h.StatusInfo))
		}
	}
	return strings.Join(bad, "; ")
}

// abandon ends the preparation of a cluster without success: the cluster and its hosts
// return to discovery.
func abandon(tx *store.Tx, c *model.Cluster, hosts []*model.Host, problem string) error {
	if err := stopPreparing(tx, c, hosts); err != nil {
		return err
	}
	facts := transitions.ClusterFacts(c, hosts, tx)
	facts.PreparationFailed, facts.Reason = true, problem
	if _, err := lifecycle.ApplyCluster(c, lifecycle.PreparationEnded, facts, tx); err != nil {
		return err
	}
	tx.SupersedeCluster(c.ID)
	return nil
}

// stopPreparing returns the hosts of a preparing cluster to discovery, with the roles they
// had before.
func stopPreparing(tx *store.Tx, c *model.Cluster, hosts []*model.Host) error {
	for _, h := range hosts {
		if _, err := lifecycle.ApplyHost(h, lifecycle.PreparationStopped, transitions.HostFacts(h, c, tx), tx); ifPossible(err) != nil {
			return err
		}
		h.Bootstrap = false
		if h.AutoRole {
			h.Role, h.AutoRole = model.RoleAutoAssign, false
		}
	}
	return nil
}
