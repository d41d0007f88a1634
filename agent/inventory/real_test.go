package inventory_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/run"
)

// TestCollectOnThisMachine takes the inventory of whatever runs the tests.
func TestCollectOnThisMachine(t *testing.T) {
	t.Parallel()
	machine := inventory.Machine{Root: "/", Runner: run.Exec{}, Links: inventory.Netlink{}}
	found := inventory.Collect(t.Context(), machine)
	require.GreaterOrEqual(t, found.CPU.Count, 1)
	require.NotEmpty(t, found.CPU.Architecture)
	if runtime.GOARCH == "amd64" {
		require.NotEmpty(t, found.CPU.Flags)
	}
	require.Positive(t, found.Memory.UsableBytes)
	require.GreaterOrEqual(t, found.Memory.PhysicalBytes, found.Memory.UsableBytes)
	require.NotEmpty(t, found.Hostname)
	require.NotEmpty(t, found.Boot.CurrentBootMode)
	for _, disk := range found.Disks {
		require.NotEmpty(t, disk.ID)
		require.NotEmpty(t, disk.Path)
	}
	text, err := json.MarshalIndent(found, "", " ")
	require.NoError(t, err)
	t.Log(string(text))
}
