package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// ListClusterHosts lists the hosts of a cluster; inventory and connectivity, by far the
// largest parts, on request only.
func (s *server) ListClusterHosts(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.ListClusterHostsParams) error {
	if same, err := s.unchanged(w, r, store.Reading{ClusterID: id}); same || err != nil {
		return err
	}
	return stream(s, w, r, func(yield func(json.RawMessage) error) error {
		c, err := s.Store.Cluster(r.Context(), id)
		if err != nil {
			return err
		}
		view := answers.HostView{
			SingleNode: c.SingleNode(), Inventory: params.WithInventory, Connectivity: params.WithConnectivity, Secrets: readsSecrets(r),
		}
		filter := store.HostFilter{
			ClusterID:    id,
			Roles:        oneOrAny(string(params.Role)),
			Statuses:     oneOrAny(params.Status),
			Connectivity: params.WithConnectivity,
			Inventory:    params.WithInventory,
			Tenant:       admission.Tenant(r),
		}
		return s.hostTexts(r.Context(), filter, func(*model.Host) answers.HostView { return view }, yield)
	})
}

// oneOrAny returns the values that a filter with one value, or none, lets through.
func oneOrAny(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// V2ListHosts lists the hosts of an InfraEnv.
func (s *server) V2ListHosts(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	if same, err := s.unchanged(w, r, store.Reading{InfraEnvID: id}); same || err != nil {
		return err
	}
	return stream(s, w, r, func(yield func(json.RawMessage) error) error {
		if _, err := s.Store.InfraEnv(r.Context(), id); err != nil {
			return err
		}
		single, err := s.Store.SingleNodeClusters(r.Context(), id)
		if err != nil {
			return err
		}
		filter := store.HostFilter{InfraEnvID: id, Connectivity: true, Inventory: true, Tenant: admission.Tenant(r)}
		view := answers.Whole
		view.Secrets = readsSecrets(r)
		return s.hostTexts(r.Context(), filter, func(h *model.Host) answers.HostView {
			view.SingleNode = single[deref(h.ClusterID)]
			return view
		}, yield)
	})
}

// hostTexts calls yield with the JSON of each host, valid until the next one.
func (s *server) hostTexts(
	ctx context.Context, filter store.HostFilter, view func(*model.Host) answers.HostView, yield func(json.RawMessage) error,
) error {
	var text []byte
	return s.Store.ShownHosts(ctx, filter, func(h *model.Host, kept, inventory []byte) (err error) {
		if text, err = answers.AppendHost(text[:0], h, kept, inventory, view(h)); err != nil {
			return err
		}
		return yield(text)
	})
}

// V2GetHost reads one host.
func (s *server) V2GetHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	if same, err := s.unchanged(w, r, store.Reading{InfraEnvID: infraEnvID, HostID: hostID}); same || err != nil {
		return err
	}
	view, err := s.hostView(r, infraEnvID, hostID)
	if err != nil {
		return err
	}
	return ok(w, view)
}

// V2DeregisterHost removes a host that is not being installed.
func (s *server) V2DeregisterHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	err := s.leave(r.Context(), infraEnvID, hostID, "removed", s.Store.DeleteHostOf, func(h *model.Host, tx *store.Tx) error {
		record(r, tx, events.HostDeregistered, lifecycle.AboutHost(h), nil)
		return nil
	})
	if err != nil {
		return err
	}
	return noContent(w)
}

// leaving changes a host while the state of its cluster cannot change.
type leaving = func(
	ctx context.Context, clusterID *uuid.UUID, infraEnvID, hostID uuid.UUID, fn func(*model.Cluster, *model.Host, *store.Tx) error,
) error

// leave takes a host out of its cluster, unless that is being installed, and ends the workflow that waited for a decision about it.
func (s *server) leave(
	ctx context.Context, infraEnvID, hostID uuid.UUID, verb string, change leaving, fn func(*model.Host, *store.Tx) error,
) error {
	before, err := s.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	err = change(ctx, before.ClusterID, infraEnvID, hostID, func(c *model.Cluster, h *model.Host, tx *store.Tx) error {
		if err := mayLeave(c, h, verb); err != nil {
			return err
		}
		return fn(h, tx)
	})
	if err == nil && before.DayTwo() && before.DecisionOpen {
		s.Orchestrator.ReleaseHost(ctx, infraEnvID, hostID)
	}
	return err
}

// mayLeave refuses to take a host out of a cluster that is being installed.
func mayLeave(c *model.Cluster, h *model.Host, verb string) error {
	switch {
	case (c == nil) != (h.ClusterID == nil), c != nil && c.ID != *h.ClusterID:
		return model.Conflictf("host %s cannot be %s: it changed its cluster in this moment", answers.HostName(h), verb)
	case c != nil && c.InstallationRuns():
		return model.Conflictf(
			"host %s cannot be %s while cluster %s is %s: cancel the installation first",
			answers.HostName(h),
			verb,
			c.Name,
			c.Status,
		)
	case lifecycle.HostsUnderInstallation.Has(h.Status):
		return model.Conflictf("host %s cannot be %s while it is %s: cancel the installation first", answers.HostName(h), verb, h.Status)
	}
	return nil
}

// V2InstallHost installs a host into the existing cluster it belongs to.
func (s *server) V2InstallHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	if err := s.Orchestrator.InstallHost(r.Context(), infraEnvID, hostID); err != nil {
		return err
	}
	return s.replyHost(accepted, w, r, infraEnvID, hostID)
}

// V2ResetHost takes a host of an existing cluster back to discovery. A failed host of a
// running installation is installed again, alone.
func (s *server) V2ResetHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	if err := s.Orchestrator.ResetHost(r.Context(), infraEnvID, hostID); err != nil {
		return err
	}
	return s.replyHost(ok, w, r, infraEnvID, hostID)
}

// hostView reads what the API shows of a host.
func (s *server) hostView(r *http.Request, infraEnvID, hostID uuid.UUID) (wire.Host, error) {
	ctx := r.Context()
	h, err := s.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return wire.Host{}, err
	}
	view := answers.Whole
	view.Secrets = readsSecrets(r)
	if h.Bootstrap && h.ClusterID != nil {
		c, err := s.Store.Cluster(ctx, *h.ClusterID)
		if err != nil {
			return wire.Host{}, err
		}
		view.SingleNode = c.SingleNode()
	}
	return answers.Host(h, view), nil
}

// replyHost answers with a host as it now stands.
func (s *server) replyHost(how reply, w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	s.bringUpToDate(r.Context(), store.Reading{InfraEnvID: infraEnvID, HostID: hostID})
	view, err := s.hostView(r, infraEnvID, hostID)
	if err != nil {
		return err
	}
	return how(w, view)
}
