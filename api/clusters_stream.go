package api

import (
	"context"
	"encoding/json"
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
		text, err := new(answers.Texts).AppendCluster(nil, c, nil, v)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(answers.Open(text), hostsBegin...)); err != nil {
			return err
		}
		view := answers.HostView{SingleNode: c.SingleNode(), Inventory: true, Connectivity: true, Secrets: v.Secrets}
		separator := ""
		filter := store.HostFilter{ClusterID: c.ID, Connectivity: true}
		err = s.hostTexts(ctx, filter, func(*model.Host) answers.HostView { return view }, func(text json.RawMessage) error {
			_, err := io.WriteString(out, separator)
			separator = ","
			if err == nil {
				_, err = out.Write(text)
			}
			return err
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
	list := clustersAndHosts{out: out, ids: []uuid.UUID{}, place: map[uuid.UUID]int{}}
	err := s.Store.ShownClusters(ctx, filter, func(c *model.Cluster, kept []byte) error {
		list.place[c.ID] = len(list.clusters)
		list.ids = append(list.ids, c.ID)
		list.clusters = append(list.clusters, keptCluster{c, kept, view(c)})
		return nil
	})
	if err != nil {
		return err
	}
	hosts := store.HostFilter{Clusters: list.ids, Connectivity: true}
	err = s.Store.ShownHosts(ctx, hosts, func(h *model.Host, kept []byte) error {
		return list.host(list.place[*h.ClusterID], h, kept)
	})
	if err != nil {
		return err
	}
	return list.end()
}

// keptCluster is a cluster that is not written yet.
type keptCluster struct {
	cluster *model.Cluster
	kept    []byte
	view    answers.ClusterView
}

// clustersAndHosts writes clusters with the hosts that come in the order of their clusters.
type clustersAndHosts struct {
	out      io.Writer
	clusters []keptCluster
	ids      []uuid.UUID
	place    map[uuid.UUID]int // of a cluster
	texts    answers.Texts
	text     []byte // written next
	begun    int    // clusters of which something was written
	hosts    int    // of the last of these
}

// upTo begins all clusters up to a place, and ends those before it.
func (l *clustersAndHosts) upTo(place int) (err error) {
	for ; l.begun <= place; l.begun++ {
		l.text = append(l.text[:0], "["...)
		if l.begun > 0 {
			l.text = append(l.text[:0], hostsEnd+","...)
		}
		next := &l.clusters[l.begun]
		if l.text, err = l.texts.AppendCluster(l.text, next.cluster, next.kept, next.view); err != nil {
			return err
		}
		if _, err = l.out.Write(append(answers.Open(l.text), hostsBegin...)); err != nil {
			return err
		}
		l.hosts = 0
	}
	return nil
}

func (l *clustersAndHosts) host(place int, h *model.Host, kept []byte) (err error) {
	if err := l.upTo(place); err != nil {
		return err
	}
	l.text = l.text[:0]
	if l.hosts++; l.hosts > 1 {
		l.text = append(l.text, ',')
	}
	of := &l.clusters[place]
	view := answers.HostView{SingleNode: of.cluster.SingleNode(), Inventory: true, Connectivity: true, Secrets: of.view.Secrets}
	if l.text, err = l.texts.AppendHost(l.text, h, kept, view); err != nil {
		return err
	}
	_, err = l.out.Write(l.text)
	return err
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
	return s.replyDefinition(status, w, r, id)
}

// replyDefinition answers with a cluster that was just defined. Clients expect the status every cluster begins with.
func (s *server) replyDefinition(status int, w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	c, view, err := s.clusterView(r.Context(), id)
	if err != nil {
		return err
	}
	view.Secrets = readsSecrets(r)
	whole := s.wholeCluster(r.Context(), c, view)
	return s.respond(status, w, func(out io.Writer) error {
		if err := whole(out); err != nil {
			return err
		}
		_, err := io.WriteString(out, "\n")
		return err
	})
}
