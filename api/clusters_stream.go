package api

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// The end of a cluster's text, in place of its brace: a thousand hosts that reach each other fill 300 MB, and are written one by one.
const (
	hostsBegin = `,"hosts":[`
	hostsEnd   = `]}`
	noHosts    = hostsBegin + hostsEnd
)

// wholeCluster writes a cluster with its hosts, which are read meanwhile.
func (s *server) wholeCluster(ctx context.Context, c *model.Cluster, v answers.ClusterView) written {
	return func(out io.Writer) error {
		text := clusterText{out: out}
		whole := keptCluster{cluster: c, view: v}
		if err := text.begin("", whole); err != nil {
			return err
		}
		filter := store.HostFilter{ClusterID: c.ID, Connectivity: true, Inventory: true}
		err := s.Store.ShownHosts(ctx, filter, func(h *model.Host, kept, inventory []byte) error {
			return text.host(whole, h, kept, inventory)
		})
		if err == nil {
			_, err = io.WriteString(out, hostsEnd)
		}
		return err
	}
}

// clustersWithHosts writes a list of clusters with their hosts. Clusters are read first: reading hosts while clusters stream would take a
// second connection of the pool for every list.
func (s *server) clustersWithHosts(
	ctx context.Context, out io.Writer, filter store.ClusterFilter, view func(*model.Cluster) answers.ClusterView,
) error {
	list := clustersAndHosts{clusterText: clusterText{out: out}}
	ids, place := []uuid.UUID{}, map[uuid.UUID]int{}
	err := s.Store.ShownClusters(ctx, filter, func(c *model.Cluster, kept []byte) error {
		ids, place[c.ID] = append(ids, c.ID), len(list.clusters)
		list.clusters = append(list.clusters, keptCluster{c, kept, view(c)})
		return nil
	})
	if err != nil {
		return err
	}
	hosts := store.HostFilter{Clusters: ids, Connectivity: true, Inventory: true}
	err = s.Store.ShownHosts(ctx, hosts, func(h *model.Host, kept, inventory []byte) error {
		at := place[*h.ClusterID]
		if err := list.upTo(at); err != nil {
			return err
		}
		return list.host(list.clusters[at], h, kept, inventory)
	})
	if err != nil {
		return err
	}
	return list.end()
}

// keptCluster is a cluster that is not written yet; without a kept text all of its row is needed.
type keptCluster struct {
	cluster *model.Cluster
	kept    []byte
	view    answers.ClusterView
}

// clusterText writes clusters, each with its hosts.
type clusterText struct {
	out   io.Writer
	text  []byte // written next
	hosts int    // of the cluster that was begun last
}

// begin writes a cluster up to its hosts.
func (t *clusterText) begin(before string, c keptCluster) (err error) {
	t.hosts = 0
	if t.text, err = answers.AppendCluster(append(t.text[:0], before...), c.cluster, c.kept, c.view); err != nil {
		return err
	}
	_, err = t.out.Write(append(answers.Open(t.text), hostsBegin...))
	return err
}

// host writes a host of a cluster that was begun.
func (t *clusterText) host(of keptCluster, h *model.Host, kept, inventory []byte) (err error) {
	t.text = t.text[:0]
	if t.hosts++; t.hosts > 1 {
		t.text = append(t.text, ',')
	}
	view := answers.HostView{SingleNode: of.cluster.SingleNode(), Inventory: true, Connectivity: true, Secrets: of.view.Secrets}
	if t.text, err = answers.AppendHost(t.text, h, kept, inventory, view); err != nil {
		return err
	}
	_, err = t.out.Write(t.text)
	return err
}

// clustersAndHosts writes a list of clusters whose hosts come in the order of their clusters.
type clustersAndHosts struct {
	clusterText

	clusters []keptCluster
	begun    int // clusters of which something was written
}

// upTo begins all clusters up to a place, and ends those before it.
func (l *clustersAndHosts) upTo(place int) error {
	for ; l.begun <= place; l.begun++ {
		before := "["
		if l.begun > 0 {
			before = hostsEnd + ","
		}
		if err := l.begin(before, l.clusters[l.begun]); err != nil {
			return err
		}
	}
	return nil
}

// end begins the clusters that are left, and ends the list.
func (l *clustersAndHosts) end() error {
	end := "[]\n"
	if len(l.clusters) > 0 {
		if err := l.upTo(len(l.clusters) - 1); err != nil {
			return err
		}
		end = hostsEnd + "]\n"
	}
	_, err := io.WriteString(l.out, end)
	return err
}

// replyCluster answers with a cluster as it now stands, with its hosts.
func (s *server) replyCluster(status int, w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	s.bringUpToDate(r.Context(), store.Reading{ClusterID: id})
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	return s.replyWhole(status, w, r, c)
}

// replyWhole answers with a cluster, and with its hosts as they now are.
func (s *server) replyWhole(status int, w http.ResponseWriter, r *http.Request, c *model.Cluster) error {
	view, err := s.viewOf(r.Context(), c)
	if err != nil {
		return err
	}
	view.Secrets = readsSecrets(r)
	whole := s.wholeCluster(r.Context(), c, view)
	return s.respond(status, w, r, func(out io.Writer) error {
		if err := whole(out); err != nil {
			return err
		}
		_, err := io.WriteString(out, "\n")
		return err
	})
}
