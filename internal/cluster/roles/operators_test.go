package roles_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestSuggestedRolesLeaveRoomForOperators(t *testing.T) {
	t.Parallel()
	const m, w = model.RoleMaster, model.RoleWorker
	small, large := []int{4, 16, 120}, []int{16, 64, 120}
	hosts := []*model.Host{
		free(1, small...), free(2, small...), free(3, large...), free(4, large...), free(5, large...),
	}
	for _, h := range hosts {
		h.Inventory.CPU.Flags, h.Inventory.CPU.Architecture = []string{"vmx"}, "x86_64"
		h.Inventory.Memory.UsableBytes = h.Inventory.Memory.PhysicalBytes
	}
	c := &model.Cluster{ControlPlaneCount: 3, OpenShiftVersion: "4.21.0"}
	require.Equal(t, map[int]model.Role{1: m, 2: m, 3: m, 4: w, 5: w}, suggest(c, hosts...))
	c.OLMOperators = []model.OLMOperator{{Name: "cnv"}}
	want := map[int]model.Role{1: w, 2: w, 3: m, 4: m, 5: m}
	got := suggest(c, hosts...)
	require.Equal(t, want, got)
	for _, h := range hosts {
		h.SuggestedRole = got[int(h.ID[15])]
	}
	require.Equal(t, want, suggest(c, hosts...), "what is suggested stays")
}
