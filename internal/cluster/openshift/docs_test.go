package openshift_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/testing/docpage"
)

// TestPageHasTheHardwareRequirements compares the table that is written by hand.
func TestPageHasTheHardwareRequirements(t *testing.T) {
	t.Parallel()
	old, now := openshift.RequirementsFor("4.21"), openshift.RequirementsFor("4.22")
	row := func(name string, r model.Requirements, cores string, withPeers bool) []string {
		latency, loss := "", ""
		if withPeers {
			latency, loss = fmt.Sprint(r.NetworkLatencyMS), fmt.Sprint(r.PacketLossPercent)
		}
		return []string{name, cores, fmt.Sprint(r.RAMMiB), fmt.Sprint(r.DiskSizeGB), fmt.Sprint(r.DiskSpeedMS), latency, loss}
	}
	cores := func(r model.Requirements) string { return fmt.Sprint(r.CPUCores) }
	require.Equal(t, [][]string{
		row("master", old.Master, cores(old.Master), true),
		row("arbiter", old.Arbiter, cores(old.Arbiter), true),
		row("worker", old.Worker, cores(old.Worker), true),
		row("single node", old.SNO, cores(old.SNO)+", from 4.22 on "+cores(now.SNO), false),
		row("edge worker", old.EdgeWorker, cores(old.EdgeWorker), false),
	}, docpage.Rows(t, "validation-rules.md", "Hardware requirements"))
}
