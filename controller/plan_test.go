package controller_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestHostsAreReportedAsTheirNodesAre(t *testing.T) {
	t.Parallel()
	at := func(stage model.Stage, status model.HostStatus) controller.Host {
		return controller.Host{
			Name: "worker-0", Stage: stage, Status: status, Addresses: []netip.Addr{netip.MustParseAddr("192.168.1.20")},
		}
	}
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	since := func(h controller.Host, minutes int) controller.Host {
		h.StageSince = began.Add(time.Duration(minutes) * time.Minute)
		return h
	}
	made := func(n corev1.Node, minutes int) corev1.Node {
		n.CreationTimestamp = metav1.NewTime(began.Add(time.Duration(minutes) * time.Minute))
		return n
	}
	const installing = model.HostInstallingInProgress
	up, down := corev1.ConditionTrue, corev1.ConditionFalse
	byAddress := node("ip-192-168-1-20", up)
	byAddress.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "ip-192-168-1-20"}, {Type: corev1.NodeInternalIP, Address: "192.168.1.20"},
	}
	ofAnother := byAddress
	ofAnother.Name = "worker-1"
	for name, tc := range map[string]struct {
		host  controller.Host
		nodes []corev1.Node
		want  []model.Stage
	}{
		"nothing without a node": {host: at(model.StageRebooting, installing)},
		"joined when the node exists": {
			host: at(model.StageRebooting, installing), nodes: []corev1.Node{node("worker-0", down)},
			want: []model.Stage{model.StageJoined},
		},
		"joined while it waits for Ignition": {
			host: at(model.StageWaitingForIgnition, installing), nodes: []corev1.Node{node("worker-0", down)},
			want: []model.Stage{model.StageJoined},
		},
		"joined and done when the node is ready": {
			host: at(model.StageConfiguring, installing), nodes: []corev1.Node{node("worker-0", up)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"done after it joined": {
			host: at(model.StageJoined, installing), nodes: []corev1.Node{node("worker-0", up)},
			want: []model.Stage{model.StageDone},
		},
		"nothing new while it is not ready": {
			host: at(model.StageJoined, installing), nodes: []corev1.Node{node("worker-0", down)},
		},
		"nothing after it is done": {
			host: at(model.StageDone, installing), nodes: []corev1.Node{node("worker-0", up)},
		},
		"nothing while it still writes its disk": {
			host: at(model.StageWritingImageToDisk, installing), nodes: []corev1.Node{node("worker-0", up)},
		},
		"joined and done when a younger node proves that it has rebooted": {
			host: since(at(model.StageWritingImageToDisk, installing), 0), nodes: []corev1.Node{made(node("worker-0", up), 1)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"nothing for the node of an attempt before": {
			host: since(at(model.StageWritingImageToDisk, installing), 1), nodes: []corev1.Node{made(node("worker-0", up), 0)},
		},
		"joined and done when it is still at its beginning, for the service": {
			host: since(at(model.StageStartingInstallation, installing), 0), nodes: []corev1.Node{made(node("worker-0", up), 1)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"nothing for a host whose stage has no time": {
			host: at("", installing), nodes: []corev1.Node{made(node("worker-0", up), 1)},
		},
		"joined and done when a failed host came up": {
			host: since(at(model.StageRebooting, model.HostError), 0), nodes: []corev1.Node{made(node("worker-0", up), 1)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"joined when a failed host came up under its name of before": {
			host: since(at(model.StageRebooting, model.HostError), 1), nodes: []corev1.Node{made(node("worker-0", up), 0)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"nothing when it did not": {
			host: since(at(model.StageRebooting, model.HostError), 1), nodes: []corev1.Node{made(node("worker-0", down), 0)},
		},
		"done when a host that failed as a node is ready": {
			host: since(at(model.StageJoined, model.HostError), 1), nodes: []corev1.Node{made(node("worker-0", up), 0)},
			want: []model.Stage{model.StageDone},
		},
		"nothing for a host that failed in the live image": {
			host: since(at(model.StageStartingInstallation, model.HostError), 1), nodes: []corev1.Node{made(node("worker-0", up), 0)},
		},
		"joined and done when the user had to fix the boot order": {
			host: at(model.StageRebooting, model.HostInstallingPendingUserAction), nodes: []corev1.Node{node("worker-0", up)},
			want: []model.Stage{model.StageJoined, model.StageDone},
		},
		"done by its address when the node has a name of its own": {
			host: at(model.StageJoined, installing), nodes: []corev1.Node{byAddress},
			want: []model.Stage{model.StageDone},
		},
		"nothing by its address when the name is another host's": {
			host: at(model.StageJoined, installing), nodes: []corev1.Node{ofAnother},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := controller.Host{Name: "worker-1", Status: model.HostInstalled, Stage: model.StageDone}
			got := controller.Missing(controller.State{
				Announced: true, Cluster: controller.Cluster{Hosts: []controller.Host{tc.host, other}}, Nodes: tc.nodes,
			})
			var want []controller.Action
			for _, stage := range tc.want {
				want = append(want, controller.ReportHost{Host: tc.host, Stage: stage})
			}
			require.Equal(t, controller.Plan{Duties: want}, got)
		})
	}
}

func TestLabelsAreSetWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	labelled := node("worker-0", corev1.ConditionTrue)
	labelled.Labels = map[string]string{"same": "1", "other": "1"}
	got := controller.Missing(controller.State{
		Announced: true, Nodes: []corev1.Node{labelled},
		Cluster: controller.Cluster{Hosts: []controller.Host{
			{Name: "worker-0", Status: model.HostInstalled, Labels: map[string]string{"same": "1", "other": "2", "new": ""}},
			{Name: "worker-1", Labels: map[string]string{"new": ""}},
		}},
	})
	require.Equal(t, []controller.Action{
		controller.LabelNode{Node: "worker-0", Labels: map[string]string{"other": "2", "new": ""}},
	}, got.Duties)
}

func TestTheControllerIsAnnouncedAndLogsAreSentWhenDue(t *testing.T) {
	t.Parallel()
	got := controller.Missing(controller.State{LogsDue: true})
	require.Equal(t, controller.Plan{Duties: []controller.Action{controller.Announce{}, controller.SendLogs{}}}, got)
}

func TestAClusterInErrorOnlyGetsItsLogsSent(t *testing.T) {
	t.Parallel()
	s := controller.State{Cluster: controller.Cluster{Status: model.ClusterError}, LogsDue: true}
	require.Equal(t, controller.Plan{Steps: []controller.Action{controller.SendLogs{Last: true, Failed: true}}}, controller.Missing(s))
	s.LastLogsSent = true
	require.Empty(t, controller.Missing(s))
}

// setupJob has one end, or none so far.
func setupJob(end batchv1.JobConditionType) batchv1.Job {
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-kmm", Name: "setup"}}
	if end != "" {
		job.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue}}
	}
	return job
}

func TestFinalizingGoesStageByStage(t *testing.T) {
	t.Parallel()
	builtin := func(name string, status wire.OperatorStatus) wire.MonitoredOperator {
		return wire.MonitoredOperator{Name: name, OperatorType: wire.Builtin, Status: status}
	}
	olm := func(status wire.OperatorStatus) wire.MonitoredOperator {
		return wire.MonitoredOperator{Name: "odf", OperatorType: wire.Olm, Status: status}
	}
	const available, progressing, failed = wire.OperatorStatusAvailable, wire.OperatorStatusProgressing, wire.OperatorStatusFailed
	enter := func(stage model.FinalizingStage) controller.Action { return controller.EnterStage{Stage: stage} }
	gaveUp := controller.ReportOperator{Report: wire.OperatorMonitorReport{
		Name: "odf", Status: failed, StatusInfo: "Waiting for operator timed out",
	}}
	type monitored = []wire.MonitoredOperator
	for name, tc := range map[string]struct {
		stage model.FinalizingStage
		state controller.State
		want  []controller.Action
	}{
		"enters the first stage": {want: []controller.Action{enter(model.FinalizingWaitingForOperators)}},
		"starts again in a stage unknown": {
			stage: "Waiting for rain", want: []controller.Action{enter(model.FinalizingWaitingForOperators)},
		},
		"waits for the console": {
			stage: model.FinalizingWaitingForOperators,
			state: controller.State{
				CheckClusterVersion: true, Monitored: monitored{builtin("cvo", available), builtin("console", progressing)},
			},
		},
		"waits for the cluster version": {
			stage: model.FinalizingWaitingForOperators,
			state: controller.State{CheckClusterVersion: true, Monitored: monitored{builtin("cvo", ""), builtin("console", available)}},
		},
		"continues without the cluster version when configured to": {
			stage: model.FinalizingWaitingForOperators,
			state: controller.State{Monitored: monitored{builtin("cvo", ""), builtin("console", available)}},
			want:  []controller.Action{enter(model.FinalizingAddingRouterCA)},
		},
		"does not wait for OLM operators yet": {
			stage: model.FinalizingWaitingForOperators,
			state: controller.State{CheckClusterVersion: true, Monitored: monitored{builtin("cvo", available), olm("")}},
			want:  []controller.Action{enter(model.FinalizingAddingRouterCA)},
		},
		"waits for the ingress certificate": {stage: model.FinalizingAddingRouterCA},
		"delivers the ingress certificate": {
			stage: model.FinalizingAddingRouterCA, state: controller.State{IngressCA: "pem"},
			want: []controller.Action{controller.UploadIngressCA{PEM: "pem"}, enter(model.FinalizingWaitingForCSVInit)},
		},
		"waits for OLM operators to start": {
			stage: model.FinalizingWaitingForCSVInit, state: controller.State{Monitored: monitored{olm("")}},
		},
		"continues when they started": {
			stage: model.FinalizingWaitingForCSVInit,
			state: controller.State{
				Monitored: monitored{olm(progressing)},
				Operators: map[string]controller.Operator{"odf": {Status: model.OperatorProgressing}},
			},
			want: []controller.Action{enter(model.FinalizingApplyingOLMManifests)},
		},
		"continues when they did not start in time": {
			stage: model.FinalizingWaitingForCSVInit,
			state: controller.State{Monitored: monitored{olm("")}, Cluster: controller.Cluster{StageTimedOut: true}},
			want:  []controller.Action{enter(model.FinalizingApplyingOLMManifests)},
		},
		"applies the manifests": {
			stage: model.FinalizingApplyingOLMManifests,
			want:  []controller.Action{controller.ApplyManifests{}, enter(model.FinalizingWaitingForCSV)},
		},
		"continues when the manifests were not applied in time": {
			stage: model.FinalizingApplyingOLMManifests, state: controller.State{Cluster: controller.Cluster{StageTimedOut: true}},
			want: []controller.Action{enter(model.FinalizingWaitingForCSV)},
		},
		"waits for OLM operators": {
			stage: model.FinalizingWaitingForCSV, state: controller.State{Monitored: monitored{olm("")}},
		},
		"continues when they are available": {
			stage: model.FinalizingWaitingForCSV, state: controller.State{Monitored: monitored{olm(available)}},
			want: []controller.Action{enter(model.FinalizingWaitingForOperatorSetup)},
		},
		"continues when they failed": {
			stage: model.FinalizingWaitingForCSV, state: controller.State{Monitored: monitored{olm(failed)}},
			want: []controller.Action{enter(model.FinalizingWaitingForOperatorSetup)},
		},
		"reports those failed that were not available in time": {
			stage: model.FinalizingWaitingForCSV,
			state: controller.State{Monitored: monitored{olm("")}, Cluster: controller.Cluster{StageTimedOut: true}},
			want:  []controller.Action{gaveUp, enter(model.FinalizingWaitingForOperatorSetup)},
		},
		"waits for the jobs that set operators up": {
			stage: model.FinalizingWaitingForOperatorSetup,
			state: controller.State{SetupJobs: []batchv1.Job{setupJob(""), setupJob(batchv1.JobComplete)}},
		},
		"continues when they have ended, well or not": {
			stage: model.FinalizingWaitingForOperatorSetup,
			state: controller.State{SetupJobs: []batchv1.Job{setupJob(batchv1.JobFailed), setupJob(batchv1.JobComplete)}},
			want:  []controller.Action{enter(model.FinalizingDone)},
		},
		"continues where there are none": {
			stage: model.FinalizingWaitingForOperatorSetup, want: []controller.Action{enter(model.FinalizingDone)},
		},
		"continues when they do not end in time": {
			stage: model.FinalizingWaitingForOperatorSetup,
			state: controller.State{SetupJobs: []batchv1.Job{setupJob("")}, Cluster: controller.Cluster{StageTimedOut: true}},
			want:  []controller.Action{enter(model.FinalizingDone)},
		},
		"completes with the last logs": {
			stage: model.FinalizingDone, want: []controller.Action{controller.SendLogs{Last: true}, controller.Complete{}},
		},
		"completes again when that was refused": {
			stage: model.FinalizingDone, state: controller.State{LastLogsSent: true}, want: []controller.Action{controller.Complete{}},
		},
		"waits for the service after that": {
			stage: model.FinalizingDone, state: controller.State{LastLogsSent: true, Completed: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.state
			s.Announced, s.Cluster.Status, s.Cluster.Stage = true, model.ClusterFinalizing, tc.stage
			require.Equal(t, tc.want, controller.Missing(s).Steps)
		})
	}
}

func TestOperatorsAreReportedWhenTheyChanged(t *testing.T) {
	t.Parallel()
	timedOut := wire.MonitoredOperator{
		Name: "odf", OperatorType: wire.Olm, Status: wire.OperatorStatusFailed, StatusInfo: "Waiting for operator timed out",
	}
	known := []wire.MonitoredOperator{
		{Name: "same", Status: wire.OperatorStatusProgressing, StatusInfo: "10%", Version: "4.20.1"},
		{Name: "further", Status: wire.OperatorStatusProgressing, StatusInfo: "10%", Version: "4.20.1"},
		{Name: "absent"},
		timedOut,
	}
	s := controller.State{
		Announced: true, Cluster: controller.Cluster{Status: model.ClusterFinalizing}, Monitored: known,
		Operators: map[string]controller.Operator{
			"same":    {Status: model.OperatorProgressing, Info: "10%", Version: "4.20.1"},
			"further": {Status: model.OperatorAvailable, Info: "done", Version: "4.20.1"},
			"odf":     {Status: model.OperatorProgressing, Info: "installing"},
		},
	}
	report := func(name, info, version string) controller.Action {
		return controller.ReportOperator{Report: wire.OperatorMonitorReport{
			Name: name, Status: wire.OperatorStatusAvailable, StatusInfo: info, Version: version,
		}}
	}
	require.Equal(t, []controller.Action{report("further", "done", "4.20.1")}, controller.Missing(s).Duties)

	s.Operators["odf"] = controller.Operator{Status: model.OperatorAvailable, Info: "late"}
	require.Equal(t, []controller.Action{report("further", "done", "4.20.1"), report("odf", "late", "")}, controller.Missing(s).Duties)
}

func TestClusterOfReadsHosts(t *testing.T) {
	t.Parallel()
	h := host(t, "", "192.168.1.10/24", "not an address")
	h.NodeLabels = "{"
	other := host(t, "Worker.Example.com")
	other.Inventory, other.NodeLabels = "", `{"a":"b"}`
	got := controller.ClusterOf(&wire.Cluster{Hosts: []wire.Host{h, other}})
	require.Equal(t, "discovered-name", got.Hosts[0].Name)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("192.168.1.10")}, got.Hosts[0].Addresses)
	require.Empty(t, got.Hosts[0].Labels)
	require.Equal(t, "worker.example.com", got.Hosts[1].Name)
	require.Equal(t, map[string]string{"a": "b"}, got.Hosts[1].Labels)
}

func TestWorkersAreConfiguringWhenTheyFetchedTheirIgnition(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	address := netip.MustParseAddr("192.168.1.20")
	for name, c := range map[string]struct {
		stage   model.Stage
		status  model.HostStatus
		fetched time.Time
		want    bool
	}{
		"after the reboot":                           {model.StageRebooting, "installing-in-progress", began.Add(time.Minute), true},
		"after the reboot, by another clock":         {model.StageRebooting, "installing-in-progress", began.Add(-time.Second), true},
		"a reboot that the service has not seen":     {model.StageWaitingForControlPlane, "installing-in-progress", began.Add(time.Minute), true},
		"an attempt before":                          {model.StageWaitingForControlPlane, "installing-in-progress", began.Add(-time.Hour), false},
		"a log without times":                        {model.StageWaitingForControlPlane, "installing-in-progress", time.Time{}, false},
		"a failed host that a user has helped":       {model.StageRebooting, "error", began.Add(time.Minute), true},
		"a failed host whose disk was not written":   {model.StageInstalling, "error", began.Add(-time.Minute), false},
		"a host that is configuring":                 {model.StageConfiguring, "installing-in-progress", began.Add(time.Minute), false},
		"a host that was cancelled with its cluster": {model.StageRebooting, "cancelled", began.Add(time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := controller.Host{
				Name: "worker-0", Addresses: []netip.Addr{address}, Stage: c.stage, Status: c.status, StageSince: began,
			}
			got := controller.Missing(controller.State{
				Announced: true, Cluster: controller.Cluster{Hosts: []controller.Host{h}}, Fetched: map[netip.Addr]time.Time{address: c.fetched},
			})
			var want []controller.Action
			if c.want {
				want = []controller.Action{controller.ReportHost{Host: h, Stage: model.StageConfiguring}}
			}
			require.Equal(t, want, got.Duties)
		})
	}
}
