// Package kepttexts compares, in tests, what is kept of hosts and clusters for lists with a rendering of their rows.
package kepttexts

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// Rendering is the rendering of the service.
var Rendering = store.Rendering{Form: answers.KeptForm, Host: answers.KeepHost, Cluster: answers.KeepCluster}

// CheckAtEnd compares the texts of all hosts and clusters when the test ends, whatever has happened to them. Rows that the test has made
// unreadable are not compared.
func CheckAtEnd(t testing.TB, s *store.Store) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var kept, whole []any
		for range 4 { // a row may change between the two reads
			var err error
			if whole, err = rows(ctx, t, s); err != nil {
				return
			}
			if kept = listed(ctx, t, s); wire.Text(kept) == wire.Text(whole) {
				break
			}
		}
		require.Equal(t, whole, kept)
	})
}

var (
	hostView    = answers.HostView{Inventory: true, Connectivity: true, Secrets: true}
	clusterView = answers.ClusterView{Counts: model.HostCounts{Total: 5}, Operators: operators, Secrets: true}
	hosts       = store.HostFilter{Connectivity: true, Inventory: true}
	clusters    = store.ClusterFilter{Deleted: true}
)

// rows renders all hosts and clusters from their rows.
func rows(ctx context.Context, t testing.TB, s *store.Store) (list []any, err error) {
	t.Helper()
	err = s.Hosts(ctx, hosts, func(h *model.Host) error {
		out, err := answers.AppendHost(nil, h, nil, nil, hostView)
		list = append(list, decoded(t, out))
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.Clusters(ctx, clusters, func(c *model.Cluster) error {
		out, err := answers.AppendCluster(nil, c, nil, clusterView)
		list = append(list, decoded(t, out))
		return err
	})
	return list, err
}

// listed reads all hosts and clusters as lists do.
func listed(ctx context.Context, t testing.TB, s *store.Store) (list []any) {
	t.Helper()
	require.NoError(t, s.ShownHosts(ctx, hosts, func(h *model.Host, text, inventory []byte) error {
		out, err := answers.AppendHost(nil, h, text, inventory, hostView)
		list = append(list, decoded(t, out))
		return err
	}))
	require.NoError(t, s.ShownClusters(ctx, clusters, func(c *model.Cluster, text []byte) error {
		out, err := answers.AppendCluster(nil, c, text, clusterView)
		list = append(list, decoded(t, out))
		return err
	}))
	return list
}

// operators are monitored in every cluster of the comparison.
var operators = []model.MonitoredOperator{{Name: "console", Type: "builtin"}, {Name: "lvm", Type: "olm"}, {Name: "odf", Type: "olm"}}

func decoded(t testing.TB, text []byte) (out any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}
