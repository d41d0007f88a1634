package sim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/sim"
	"slipway/internal/wire"
)

// Live images of newer releases have no tools of a node: bootstrap.ign brings the units that fetch them.
func TestNodeImageIsLaidOverTheLiveSystemWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memory int64
		fault  string
	}{
		"a host of 32 GiB": {32 << 10, ""},
		"a host of 15 GiB": {15 << 10, "node-image-pull.service failed (exit-code): Pulling"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, 1)
			p.bootstrap = strings.Replace(bootstrapIgnition, `"units":[`, `"units":[{"name":"node-image-overlay.service","contents":"[Unit]\n"},`+
				`{"name":"node-image-pull.service","contents":"[Unit]\n"},`, 1)
			o := p.options("sno", "192.0.2.20", sim.Faults{})
			o.Spec.MemoryMiB = c.memory
			p.start(t, o)
			reply := p.do(p.ctx, t, p.host(p.ctx, t), steps.BootstrapStart, wire.HostRoleMaster)
			if c.fault == "" {
				require.Zero(t, reply.ExitCode, reply.Error)
				return
			}
			require.NotZero(t, reply.ExitCode)
			require.Contains(t, reply.Error, c.fault)
			require.Contains(t, reply.Error, "No space left on device")
		})
	}
}
