package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

func TestProgressOfAClusterThatTakesHosts(t *testing.T) {
	t.Parallel()
	none := lifecycle.ClusterProgress(model.ClusterAddingHosts, nil, nil, model.ClusterProgress{})
	require.Zero(t, none, "an imported cluster was not installed here")
	whole := lifecycle.ClusterProgress(model.ClusterInstalled, nil, nil, model.ClusterProgress{})
	require.Equal(t, 100, whole.Total)
	require.Equal(t, whole, lifecycle.ClusterProgress(model.ClusterAddingHosts, nil, nil, whole))
}
