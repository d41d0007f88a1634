package installation

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Accept takes an install command: the cluster is preparing from here on, and its
// workflow will be started, by this process or by another one after a crash. It
// returns the number of the attempt, or an ErrConflict that names what is missing.
func (s *Service) Accept(ctx context.Context, id uuid.UUID) (int, error) {
	if err := s.discovery.RefreshCluster(ctx, id); err != nil {
		return 0, err
	}
	attempt := 0
	err := s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if _, err := lifecycle.ApplyCluster(c, lifecycle.PrepareCluster, clusterFacts(c, hosts, tx), tx); err != nil {
			return model.Conflictf("cluster %s cannot be installed: require status ready, found %s (%s)", c.Name, c.Status, c.StatusInfo)
		}
		attempt = c.InstallAttempt
		return nil
	})
	return attempt, err
}

// BeginPreparation freezes roles, elects the bootstrap host and lets the hosts prepare.
// It returns the hosts in the order of the plan, or a reason why the cluster went back
// to discovery.
func (s *Service) BeginPreparation(ctx context.Context, id uuid.UUID, attempt int) (c *model.Cluster, hosts []*model.Host, refused string, err error) {
	err = s.update(ctx, id, func(cluster *model.Cluster, all []*model.Host, tx *store.Tx) error {
		c, hosts, refused = cluster, all, ""
		if c.Status != model.ClusterPreparingForInstallation || c.InstallAttempt != attempt {
			refused = fmt.Sprintf("the cluster is %s and in attempt %d", c.Status, c.InstallAttempt)
			return nil
		}
		if problem := unready(hosts); problem != "" {
			refused = problem
			return s.abandon(tx, c, hosts, problem)
		}
		for _, h := range hosts {
			if h.Role == model.RoleAutoAssign {
				h.Role, h.AutoRole = h.EffectiveRole(), true
			}
			if _, err := lifecycle.ApplyHost(h, lifecycle.PrepareHost, hostFacts(h, c, tx), tx); err != nil {
				return err
			}
		}
		electBootstrap(tx, hosts)
		return nil
	})
	return c, planOrder(hosts), refused, err
}

// unready names the first host that cannot be prepared.
func unready(hosts []*model.Host) string {
	if len(hosts) == 0 {
		return "the cluster has no hosts"
	}
	for _, h := range hosts {
		if h.Status != model.HostKnown && h.Status != model.HostPreparingForInstallation {
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

// ConcludePreparation starts the installation when every host and the Ignition files
// are ready, or takes the cluster back to discovery. problem is why the workflow
// thinks it is not ready, empty when it sees no problem. It returns the final reason,
// empty on success.
func (s *Service) ConcludePreparation(ctx context.Context, id uuid.UUID, attempt int, problem string) (string, error) {
	if err := s.discovery.RefreshCluster(ctx, id); err != nil {
		return "", err
	}
	err := s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		switch {
		case c.Status == model.ClusterInstalling && c.InstallAttempt == attempt:
			return nil // this ran already
		case c.Status != model.ClusterPreparingForInstallation || c.InstallAttempt != attempt:
			problem = fmt.Sprintf("the cluster is %s", c.Status)
			return nil
		}
		if problem == "" {
			problem = unprepared(hosts)
		}
		if problem != "" {
			return s.abandon(tx, c, hosts, problem)
		}
		c.LastPreparation = model.Preparation{Status: lifecycle.PreparationSuccess}
		if _, err := lifecycle.ApplyCluster(c, lifecycle.PreparationEnded, clusterFacts(c, hosts, tx), tx); err != nil {
			return err
		}
		for _, h := range hosts {
			if _, err := lifecycle.ApplyHost(h, lifecycle.InstallationBegins, hostFacts(h, c, tx), tx); err != nil {
				return err
			}
			tx.Event(events.New(events.HostInstallationStarted, lifecycle.AboutHost(h), nil, tx.Now()))
		}
		tx.Operators(operators.Builtin(c, s.waitForVersion)...)
		return nil
	})
	return problem, err
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
func (s *Service) abandon(tx *store.Tx, c *model.Cluster, hosts []*model.Host, problem string) error {
	if err := stopPreparing(tx, c, hosts); err != nil {
		return err
	}
	facts := clusterFacts(c, hosts, tx)
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
		if _, err := lifecycle.ApplyHost(h, lifecycle.PreparationStopped, hostFacts(h, c, tx), tx); ifPossible(err) != nil {
			return err
		}
		h.Bootstrap = false
		if h.AutoRole {
			h.Role, h.AutoRole = model.RoleAutoAssign, false
		}
	}
	return nil
}
