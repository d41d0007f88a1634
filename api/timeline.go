package api

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

const (
	installationsPage = 50 // without a limit
	eventsPage        = 50
	hostsPage         = 20
	stepsOfEach       = 40
)

// page is a part of a list: one more than its limit is read, which shows that there is a next one.
type page struct{ limit, offset int }

// pageOf reads a page from the address, which was held against the document.
func pageOf(r *http.Request, limit, offset string, usual int) page {
	number := func(name string) int { n, _ := strconv.Atoi(r.URL.Query().Get(name)); return n }
	return page{cmp.Or(number(limit), usual), number(offset)}
}

// cut returns the elements of the page, and the offset of the next one; zero: there is none.
func cut[T any](all []T, p page) ([]T, int) {
	if len(all) <= p.limit {
		return all, 0
	}
	return all[:p.limit], p.offset + p.limit
}

// listInstallations lists clusters without their hosts, newest first.
func (s *server) listInstallations(w http.ResponseWriter, r *http.Request) error {
	s.bringUpToDate(r.Context(), store.Reading{})
	p := pageOf(r, "limit", "offset", installationsPage)
	out := wire.Installations{Installations: []wire.Installation{}}
	err := s.Store.Clusters(r.Context(), store.ClusterFilter{Tenant: admission.Tenant(r), Limit: p.limit + 1, Offset: p.offset},
		func(c *model.Cluster) error {
			out.Installations = append(out.Installations, installationToWire(c))
			return nil
		})
	if err != nil {
		return err
	}
	out.Installations, out.Next = cut(out.Installations, p)
	return ok(w, out)
}

func installationToWire(c *model.Cluster) wire.Installation {
	return wire.Installation{
		ID: c.ID, Name: c.Name, OpenShiftVersion: c.OpenShiftVersion, Status: wire.ClusterStatus(c.Status), StatusInfo: c.StatusInfo,
		StatusUpdatedAt: wire.DateTime(c.StatusUpdatedAt), CreatedAt: wire.DateTime(c.CreatedAt),
	}
}

// showTimeline returns what happened in a cluster: its events, and what its hosts were asked for.
func (s *server) showTimeline(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	s.bringUpToDate(r.Context(), store.Reading{ClusterID: id})
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	out := wire.Timeline{Installation: installationToWire(c), Hosts: []wire.TimelineHost{}, Events: []wire.Event{}}
	if err := s.timelineEvents(r, &out); err != nil {
		return err
	}
	if err := s.timelineHosts(r, &out); err != nil {
		return err
	}
	return ok(w, out)
}

func (s *server) timelineEvents(r *http.Request, out *wire.Timeline) error {
	p := pageOf(r, "limit", "events_offset", eventsPage)
	err := s.Store.EachEvent(r.Context(), store.EventFilter{
		ClusterID: out.ID, Descending: true, Limit: p.limit + 1, Offset: p.offset, Tenant: admission.Tenant(r),
	}, func(e model.Event) error {
		out.Events = append(out.Events, eventToWire(e))
		return nil
	})
	out.Events, out.NextEvents = cut(out.Events, p)
	return err
}

func (s *server) timelineHosts(r *http.Request, out *wire.Timeline) error {
	p := page{hostsPage, pageOf(r, "limit", "hosts_offset", hostsPage).offset}
	at, ids := map[uuid.UUID]int{}, []uuid.UUID{}
	err := s.Store.Hosts(r.Context(), store.HostFilter{ClusterID: out.ID, Limit: p.limit + 1, Offset: p.offset}, func(h *model.Host) error {
		at[h.ID], ids = len(out.Hosts), append(ids, h.ID)
		out.Hosts = append(out.Hosts, timelineHostToWire(h))
		return nil
	})
	if err != nil {
		return err
	}
	out.Hosts, out.NextHosts = cut(out.Hosts, p)
	steps, err := s.Store.PastSteps(r.Context(), out.ID, ids[:len(out.Hosts)], stepsOfEach)
	if err != nil {
		return err
	}
	for _, step := range steps {
		host := &out.Hosts[at[step.HostID]]
		host.Steps = append(host.Steps, stepToWire(step))
	}
	return nil
}

func timelineHostToWire(h *model.Host) wire.TimelineHost {
	return wire.TimelineHost{
		ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.Hostname(), Role: string(h.EffectiveRole()), Status: wire.HostStatus(h.Status),
		StatusInfo: h.StatusInfo, Stage: wire.HostStage(h.Stage), StageStartedAt: momentOrNil(h.Progress.StageStartedAt),
		Steps: []wire.TimelineStep{},
	}
}

func stepToWire(p store.PastStep) wire.TimelineStep {
	return wire.TimelineStep{
		Kind: string(p.Kind), Name: p.Type, State: string(p.State), ExitCode: p.ExitCode, AskedAt: wire.DateTime(p.Asked),
		SentAt: momentOrNil(p.Sent), EndedAt: momentOrNil(p.Ended),
	}
}

func momentOrNil(t time.Time) *wire.DateTime {
	if t.IsZero() {
		return nil
	}
	out := wire.DateTime(t)
	return &out
}
