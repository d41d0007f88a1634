package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

func TestProgressOfAClusterThatTakesHosts(t *testing.T) {
	t.Parallel()
	c := &model.Cluster{Status: model.ClusterAddingHosts}
	require.Zero(t, lifecycle.ClusterProgress(c, nil, nil), "an imported cluster was not installed here")
	c.Status = model.ClusterInstalled
	c.Progress = lifecycle.ClusterProgress(c, nil, nil)
	require.Equal(t, 100, c.Progress.Total)
	c.Status = model.ClusterAddingHosts
	require.Equal(t, c.Progress, lifecycle.ClusterProgress(c, nil, nil))
}
