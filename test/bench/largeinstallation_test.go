package bench_test

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/test/built"
)

// installedHosts are the sizes of clusters that are installed.
var installedHosts = flag.String("hosts", "10,1000", "hosts of the clusters that BenchmarkLargeInstallation installs")

// installationLimit is for 1,000 hosts on a busy machine.
const installationLimit = time.Hour

// BenchmarkLargeInstallation installs clusters of three masters, the others workers, on hosts where nothing takes time, and
// reads from Temporal how large the histories became. A run of a workflow should stay under 10 MB and 10,000 events.
func BenchmarkLargeInstallation(b *testing.B) {
	for _, size := range strings.Split(*installedHosts, ",") {
		hosts, err := strconv.Atoi(size)
		require.NoError(b, err)
		b.Run(size+"-hosts", func(b *testing.B) {
			for b.Loop() {
				measureInstallation(b, hosts)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func measureInstallation(b *testing.B, hosts int) {
	i := newInstaller(b)
	var c *cluster
	var took time.Duration
	all := i.measure(hosts, func() { c, took = i.install("large", hosts, installationLimit) })
	found := c.executions(hosts)
	cluster, host := largest(found.cluster), largest(found.hosts)
	b.ReportMetric(float64(cluster.events), "events-cluster-run")
	b.ReportMetric(float64(cluster.bytes)/1e6, "MB-cluster-run")
	b.ReportMetric(float64(len(found.cluster)), "runs-cluster")
	b.ReportMetric(float64(host.events), "events-host-run")
	b.ReportMetric(float64(host.bytes)/1e6, "MB-host-run")
	b.ReportMetric(found.childrenAfter.Seconds(), "s-until-children-began")
	b.ReportMetric(took.Seconds(), "s-installation")
	b.ReportMetric(microseconds(all.used.total())/1000/float64(hosts), "cpu-ms/host")
	b.ReportMetric(i.peakMB(), "MB-peak")
}

// run is one run of a workflow, as large as it became.
type run struct{ events, bytes int64 }

// largest has the most events and the most bytes of all runs.
func largest(runs []run) (most run) {
	for _, r := range runs {
		most.events, most.bytes = max(most.events, r.events), max(most.bytes, r.bytes)
	}
	return most
}

// executions are the runs of the workflows of an installation.
type executions struct {
	cluster, hosts []run
	// childrenAfter is the time from the start of the cluster's workflow to the start of the last host's.
	childrenAfter time.Duration
}

// executions reads the runs of an installation that has ended.
func (c *cluster) executions(hosts int) (found executions) {
	c.tb.Helper()
	temporal, err := client.DialContext(c.tb.Context(), built.Temporal(c.tb, c.dir))
	require.NoError(c.tb, err)
	defer temporal.Close()
	var list []*workflowpb.WorkflowExecutionInfo
	// Visibility follows the histories.
	eventually(c.tb, "workflows listed", 2*time.Minute, func() bool {
		list, err = executionsOf(c.tb.Context(), temporal, c.id)
		require.NoError(c.tb, err)
		return len(starts(list, "host:")) == hosts && len(starts(list, "cluster:")) == 1
	})
	var begun, last time.Time
	for id, at := range starts(list, "") {
		switch {
		case strings.HasPrefix(id, "cluster:"):
			begun = at
		case strings.HasPrefix(id, "host:") && at.After(last):
			last = at
		}
	}
	found.childrenAfter = last.Sub(begun)
	for _, execution := range list {
		id := execution.GetExecution()
		described, err := temporal.DescribeWorkflowExecution(c.tb.Context(), id.GetWorkflowId(), id.GetRunId())
		require.NoError(c.tb, err)
		info := described.GetWorkflowExecutionInfo()
		size := run{info.GetHistoryLength(), info.GetHistorySizeBytes()}
		switch {
		case strings.HasPrefix(id.GetWorkflowId(), "cluster:"):
			found.cluster = append(found.cluster, size)
		case strings.HasPrefix(id.GetWorkflowId(), "host:"):
			found.hosts = append(found.hosts, size)
		}
	}
	return found
}

// executionsOf lists all runs of the workflows that install a cluster and its hosts; none while one is open.
func executionsOf(
	ctx context.Context, temporal client.Client, cluster uuid.UUID,
) (list []*workflowpb.WorkflowExecutionInfo, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("ClusterID = '%s'", cluster), PageSize: 1000}
	for {
		page, err := temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list workflows: %w", err)
		}
		for _, e := range page.GetExecutions() {
			id := e.GetExecution().GetWorkflowId()
			if !strings.HasPrefix(id, "cluster:") && !strings.HasPrefix(id, "host:") {
				continue // the workflow that takes commands, and stays
			}
			if e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return nil, nil
			}
			list = append(list, e)
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return list, nil
		}
	}
}

// starts lists when the first runs of workflows began whose ids begin with a prefix.
func starts(list []*workflowpb.WorkflowExecutionInfo, prefix string) map[string]time.Time {
	first := map[string]time.Time{}
	for _, e := range list {
		id, at := e.GetExecution().GetWorkflowId(), e.GetStartTime().AsTime()
		if known, ok := first[id]; strings.HasPrefix(id, prefix) && (!ok || at.Before(known)) {
			first[id] = at
		}
	}
	return first
}
