package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/features"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// BindHost gives an unbound host to a cluster; the host registers again and is checked
// for it.
func (s *server) BindHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	var params wire.BindHostParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := s.bind(r, infraEnvID, hostID, params.ClusterID); err != nil {
		return err
	}
	return s.replyHost(ok, w, r, infraEnvID, hostID)
}

func (s *server) bind(r *http.Request, infraEnvID, hostID, clusterID uuid.UUID) error {
	if err := s.requireLateBinding(r.Context(), infraEnvID); err != nil {
		return err
	}
	if err := s.gate.MayTouch(r.Context(), admission.CallerOf(r), admission.Object{ClusterID: clusterID}); err != nil {
		return err
	}
	c, err := s.Store.Cluster(r.Context(), clusterID)
	if err != nil {
		return err
	}
	audit.Add(r.Context(), func(e *model.AuditEntry) { e.ClusterID = &clusterID })
	return s.Store.UpdateHostOf(r.Context(), &clusterID, infraEnvID, hostID, func(now *model.Cluster, h *model.Host, tx *store.Tx) error {
		if err := requireStatus("given a host", now, lifecycle.Changeable); err != nil {
			return err
		}
		if h.ClusterID != nil {
			return model.Conflictf("host %s cannot be bound: require a host without a cluster, found cluster %s", answers.HostName(h), h.ClusterID)
		}
		if err := checkHostArchitecture(h, c); err != nil {
			return err
		}
		if err := checkHostRole(h.Role, c); err != nil {
			return err
		}
		if err := move(r, h, lifecycle.BindHost, tx); err != nil {
			return err
		}
		h.ClusterID, h.Kind = &c.ID, model.KindHost
		if now.DayTwo() { // c was read before
			h.Kind = model.KindAddToExistingClusterHost
			if h.Role == model.RoleAutoAssign {
				h.Role = model.RoleWorker
			}
		}
		tx.Refresh(nil, infraEnvID)
		tx.HostsChanged(c.ID)
		record(r, tx, events.HostBindSucceeded, lifecycle.AboutHost(h), nil)
		return nil
	})
}

// UnbindHost takes a host out of its cluster, back to the pool of its InfraEnv.
func (s *server) UnbindHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	if err := s.unbind(r, infraEnvID, hostID); err != nil {
		return err
	}
	return s.replyHost(ok, w, r, infraEnvID, hostID)
}

func (s *server) unbind(r *http.Request, infraEnvID, hostID uuid.UUID) error {
	if err := s.requireLateBinding(r.Context(), infraEnvID); err != nil {
		return err
	}
	return s.leave(r.Context(), infraEnvID, hostID, "unbound", s.Store.UpdateHostOf, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil {
			return model.Conflictf("host %s cannot be unbound: require a host of a cluster, found status %s", answers.HostName(h), h.Status)
		}
		cluster := *h.ClusterID
		if err := transitions.Unbind(h, requestRecorder{tx, r}, tx); err != nil {
			return err
		}
		tx.HostsChanged(cluster)
		return nil
	})
}

// requireLateBinding refuses to bind or unbind hosts of an InfraEnv that belongs to
// one cluster.
func (s *server) requireLateBinding(ctx context.Context, infraEnvID uuid.UUID) error {
	e, err := s.Store.InfraEnv(ctx, infraEnvID)
	if err == nil && e.ClusterID != nil {
		return model.Conflictf(
			"infra-env %s belongs to cluster %s: require one without a cluster to bind and unbind hosts",
			e.Name,
			e.ClusterID,
		)
	}
	return err
}

// checkHostRole refuses the role of an arbiter where the installer would. An unbound host may have it.
func checkHostRole(role model.Role, c *model.Cluster) error {
	if role != model.RoleArbiter || c == nil {
		return nil
	}
	if err := features.CheckArbiter(c); err != nil {
		return model.Invalidf("host_role: %s", err)
	}
	return nil
}

// checkHostArchitecture holds the processor of a host against its cluster's.
func checkHostArchitecture(h *model.Host, c *model.Cluster) error {
	if h.Inventory == nil || h.Inventory.CPU.Architecture == "" || c.CPUArchitecture == "multi" {
		return nil
	}
	if found := h.Inventory.CPU.Architecture; definition.ReleaseArchitecture(found) != definition.ReleaseArchitecture(c.CPUArchitecture) {
		return model.Invalidf(
			"host %s cannot be bound to cluster %s: require architecture %s, found %s",
			answers.HostName(h),
			c.Name,
			c.CPUArchitecture,
			found,
		)
	}
	return nil
}

// move carries out the transition of a host on a command of its user.
func move(r *http.Request, h *model.Host, event lifecycle.HostEvent, tx *store.Tx) error {
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Now: tx.Now()})
	if _, err := lifecycle.ApplyHost(h, event, facts, requestRecorder{tx, r}); err != nil {
		return err
	}
	tx.WakeHosts(h.ID)
	return nil
}
