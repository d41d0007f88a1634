package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// V2RegisterCluster defines a new cluster.
func (s *server) V2RegisterCluster(w http.ResponseWriter, r *http.Request) error {
	var params wire.ClusterCreateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	c, err := s.offer().New(params)
	if err != nil {
		return err
	}
	return s.register(w, r, c)
}

// register stores a new cluster of any kind; the caller owns it.
func (s *server) register(w http.ResponseWriter, r *http.Request, c *model.Cluster) error {
	c.ID, c.UserName, c.OrgID = uuid.New(), admission.CallerOf(r).Name, admission.CallerOf(r).OrgID
	if _, err := lifecycle.ApplyCluster(c, lifecycle.RegisterCluster, lifecycle.ClusterFacts{Kind: c.Kind}, nil); err != nil {
		return err
	}
	key, err := admission.KubeKey(r)
	if err != nil {
		return err
	}
	c.KubeNamespace, c.KubeName = key.Namespace, key.Name
	err = s.Store.CreateCluster(r.Context(), c, func(tx *store.Tx) {
		if c.Kind == model.KindCluster {
			monitor(tx, c)
		}
		record(r, tx, events.ClusterRegistrationSucceeded, lifecycle.AboutCluster(c), events.Props{"cluster_kind": string(c.Kind)})
	})
	if err != nil {
		return err
	}
	audit.Add(r.Context(), func(e *model.AuditEntry) { e.ClusterID = &c.ID })
	// As it was defined: clients expect the status every cluster begins with, which the evaluation may have replaced already.
	return s.replyWhole(http.StatusCreated, w, r, c)
}

// V2DeregisterCluster deletes a cluster and the hosts of its InfraEnvs, unbinds its other hosts, and ends workflows that wait for a
// decision about it or about a host that was to join it. Its files are kept until it is purged.
func (s *server) V2DeregisterCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	waiting, err := s.waiting(r.Context(), id)
	if err != nil {
		return err
	}
	err = s.Store.DeleteCluster(r.Context(), id, func(c *model.Cluster, borrowed []*model.Host, tx *store.Tx) error {
		if c.Running() {
			return model.Conflictf("cluster %s cannot be deleted while it is %s: cancel its installation first", c.Name, c.Status)
		}
		record(r, tx, events.ClusterDeregistered, lifecycle.AboutCluster(c), nil)
		return transitions.UnbindAll(borrowed, requestRecorder{tx, r}, tx)
	})
	if err != nil {
		return err
	}
	s.Orchestrator.ReleaseCluster(r.Context(), id)
	for _, h := range waiting {
		s.Orchestrator.ReleaseHost(r.Context(), h.InfraEnvID, h.ID)
	}
	return noContent(w)
}

// undeleteCluster brings a deleted cluster back while it is not purged.
func (s *server) undeleteCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	err = s.Store.UndeleteCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) {
		record(r, tx, events.ClusterUndeleted, lifecycle.AboutCluster(c), nil)
	})
	if err != nil {
		return err
	}
	return s.replyCluster(http.StatusOK, w, r, id)
}

// listDeletedClusters lists the deleted clusters that can be brought back, newest deletion first.
func (s *server) listDeletedClusters(w http.ResponseWriter, r *http.Request) error {
	out := []wire.DeletedCluster{}
	filter := store.ClusterFilter{Tenant: admission.Tenant(r), OnlyDeleted: true}
	err := s.Store.Clusters(r.Context(), filter, func(c *model.Cluster) error {
		out = append(out, wire.DeletedCluster{
			ID: c.ID, Name: c.Name, Status: wire.ClusterStatus(c.Status), OpenShiftVersion: c.OpenShiftVersion,
			DeletedAt: wire.DateTime(c.DeletedAt), KeptUntil: wire.DateTime(c.DeletedAt.Add(s.DeletedAfter)),
		})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(out, func(a, b wire.DeletedCluster) int { return b.DeletedAt.Time().Compare(a.DeletedAt.Time()) })
	return ok(w, out)
}

// waiting lists the hosts of an existing cluster whose workflows wait for a decision.
func (s *server) waiting(ctx context.Context, id uuid.UUID) (hosts []*model.Host, err error) {
	err = s.Store.Hosts(ctx, store.HostFilter{ClusterID: id, Statuses: []string{string(model.HostError)}}, func(h *model.Host) error {
		if h.DayTwo() && h.DecisionOpen {
			hosts = append(hosts, h)
		}
		return nil
	})
	return hosts, err
}

// requireStatus refuses what a status does not allow and names it.
func requireStatus(verb string, c *model.Cluster, allowed []model.ClusterStatus) error {
	if slices.Contains(allowed, c.Status) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, status := range allowed {
		names[i] = string(status)
	}
	return model.Conflictf("cluster %s cannot be %s: require status %s, found %s", c.Name, verb, strings.Join(names, " or "), c.Status)
}

// bringUpToDate makes the next read show statuses and validations after earlier changes. When it fails the read is answered without
// them: the next evaluation brings them.
func (s *server) bringUpToDate(ctx context.Context, reading store.Reading) {
	if err := s.Evaluation.BringUpToDate(ctx, reading); err != nil && ctx.Err() == nil {
		s.Log.Warn("an answer may show a status from before a change", "reading", reading, "error", err)
	}
}

func (s *server) viewOf(ctx context.Context, c *model.Cluster) (view answers.ClusterView, err error) {
	if view.Operators, err = s.Store.MonitoredOperators(ctx, c.ID); err != nil {
		return view, err
	}
	counts, err := s.Store.HostCounts(ctx, c.ID)
	view.Counts = counts[c.ID]
	return view, err
}

func vipText(c *model.Cluster) string { return vipList(c.APIVIPs) + " " + vipList(c.IngressVIPs) }

func vipList(vips []model.VIP) string {
	var list []string
	for _, v := range vips {
		list = append(list, v.IP.String())
	}
	return joined(list)
}

func joined(list []string) string { return strings.Join(list, ",") }
