package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

func TestControlPlaneIsFencedWhenAllOfItIs(t *testing.T) {
	t.Parallel()
	credentials := &model.FencingCredentials{Address: "https://bmc"}
	fenced := &model.Host{Role: model.RoleMaster, Fencing: credentials}
	suggested := &model.Host{Role: model.RoleAutoAssign, SuggestedRole: model.RoleMaster, Fencing: credentials}
	bare, worker := &model.Host{Role: model.RoleMaster}, &model.Host{Role: model.RoleWorker}
	require.True(t, validation.Fenced([]*model.Host{fenced, suggested, worker}))
	require.False(t, validation.Fenced([]*model.Host{fenced, bare}))
	require.False(t, validation.Fenced([]*model.Host{{Role: model.RoleWorker, Fencing: credentials}}))
	require.False(t, validation.Fenced(nil))
}

func TestWhatNoClusterCanDoWithoutIsNotIgnored(t *testing.T) {
	t.Parallel()
	require.True(t, validation.HostIgnorable("ntp-synced"))
	require.False(t, validation.HostIgnorable("connected"))
	require.False(t, validation.HostIgnorable("bogus"))
	require.True(t, validation.ClusterIgnorable("dns-domain-defined"))
	require.False(t, validation.ClusterIgnorable("sufficient-masters-count"))
	require.False(t, validation.ClusterIgnorable("ntp-synced"))
}
