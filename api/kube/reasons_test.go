package kube_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agent"
	"slipway/api/kube/agentinstall"
	"slipway/api/kube/classification"
	"slipway/api/kube/cluster"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/infraenv"
	"slipway/api/kube/resource"
	"slipway/api/kube/spoke"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// wanted lists the reasons of each condition that the existing service documents (openshift/assisted-service, api/v1beta1 and
// api/hiveextension/v1beta1, constants of conditions).
var wanted = map[string]string{
	"Agent SpecSynced":      "SyncOK BackendError InputError",
	"Agent Connected":       "AgentIsConnected AgentIsDisconnected NotAvailable",
	"Agent RequirementsMet": "AgentIsReady AgentNotReady AgentAlreadyInstalling AgentIsNotApproved AgentInstallationStopped",
	"Agent Validated":       "ValidationsPassing ValidationsUnknown ValidationsFailing ValidationsUserPending",
	"Agent Installed":       "InstallationCompleted InstallationFailed InstallationNotStarted InstallationInProgress UnknownStatus",
	"Agent Bound":           "Bound Unbound Binding Unbinding UnbindingPendingUserAction",
	"Agent Cleanup":         "CleanupFailed",

	"AgentClusterInstall SpecSynced": "SyncOK BackendError InputError",
	"AgentClusterInstall RequirementsMet": "ClusterIsReady ClusterNotReady ClusterAlreadyInstalling ClusterInstallationStopped " +
		"InsufficientAgents UnapprovedAgents UnsyncedAgents AdditionalAgents",
	"AgentClusterInstall Validated": "ValidationsPassing ValidationsUnknown ValidationsFailing ValidationsUserPending",
	"AgentClusterInstall Completed": "InstallationCompleted InstallationFailed InstallationNotStarted InstallationOnHold " +
		"InstallationInProgress UnknownStatus NotAvailable",
	"AgentClusterInstall Failed":  "InstallationFailed InstallationNotFailed",
	"AgentClusterInstall Stopped": "InstallationFailed InstallationCancelled InstallationCompleted InstallationNotStopped",

	"InfraEnv ImageCreated":           "ImageCreated ImageCreationError MissingClusterDeployment InfraEnvAvailable",
	"AgentClassification QueryErrors": "NoQueryErrors HasQueryErrors",
}

// unreached are the reasons that no resource gets.
var unreached = map[string]string{
	"AgentClusterInstall RequirementsMet AdditionalAgents": "the existing service says InsufficientAgents for too many agents as well",
	"InfraEnv ImageCreated InfraEnvAvailable":              "newer releases of the existing service declare it; what sets it was not read",
}

// reasons collects the reasons of conditions.
type reasons map[string]bool

func (r reasons) add(kind string, list []agentinstall.Condition) {
	for _, c := range list {
		r[kind+" "+string(c.Type)+" "+c.Reason] = true
	}
}

var problems = []error{nil, model.Invalidf("no"), errors.New("no answer")}

const failing = `{"network":[{"id":"a","status":"failure","message":"A"}]}`

func ofAgents(t *testing.T, found reasons, now metav1.Time) {
	t.Helper()
	for _, status := range strings.Fields("discovering discovering-unbound disconnected disconnected-unbound insufficient " +
		"insufficient-unbound pending-for-input known known-unbound preparing-for-installation preparing-successful preparing-failed " +
		"installing installing-in-progress installing-pending-user-action installed added-to-existing-cluster error binding unbinding " +
		"unbinding-pending-user-action reclaiming reclaiming-rebooting cancelled resetting resetting-pending-user-action") {
		for _, approved := range []bool{false, true} {
			for _, validations := range []string{"", failing} {
				for _, problem := range problems {
					s, err := agent.Status(agent.Inputs{
						Resource: &agentinstall.Agent{Spec: agentinstall.AgentSpec{Approved: approved}},
						Host:     &wire.Host{ID: uuid.New(), InfraEnvID: uuid.New(), Status: wire.HostStatus(status), ValidationsInfo: validations},
					}, "https://a", problem, now)
					require.NoError(t, err)
					found.add("Agent", s.Conditions)
				}
			}
		}
	}
	left := &agentinstall.Agent{}
	left.Status.DeprovisionInfo = &agentinstall.AgentDeprovisionInfo{NodeName: "one"}
	spoke.Failed(left, "no answer", now)
	found.add("Agent", left.Status.Conditions)
	found.add("Agent", agent.Unavailable(&agentinstall.Agent{}, now).Conditions)
}

func ofClusters(t *testing.T, found reasons, now metav1.Time) {
	t.Helper()
	agents := []agentinstall.Agent{ // what an approved host, another one, and one with a wrong spec have
		{Spec: agentinstall.AgentSpec{Approved: true}},
		{},
		{Spec: agentinstall.AgentSpec{Approved: true}, Status: agentinstall.AgentStatus{
			Conditions: []agentinstall.Condition{{Type: agentinstall.SpecSynced, Status: "False"}},
		}},
	}
	for _, status := range strings.Fields("insufficient pending-for-input ready preparing-for-installation installing " +
		"installing-pending-user-action finalizing installed adding-hosts error cancelled none") {
		for n := range 4 * 4 {
			in := cluster.Inputs{
				Deployment: &hive.ClusterDeployment{},
				Install: &hiveext.AgentClusterInstall{Spec: hiveext.AgentClusterInstallSpec{
					ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1}, HoldInstallation: n/4 == 3,
				}},
				Cluster: &wire.Cluster{ID: uuid.New(), Status: wire.ClusterStatus(status), ValidationsInfo: map[bool]string{true: failing}[n%2 == 0]},
			}
			if n%4 < len(agents) {
				a, id := agents[n%4], uuid.New()
				a.Name = id.String()
				in.Agents = []agentinstall.Agent{a}
				in.Cluster.Hosts = []wire.Host{{ID: id, Status: "known", Role: "master", Kind: "Host"}}
			}
			if status == "none" {
				in.Cluster = nil
			}
			s, err := cluster.Status(in, "https://a", problems[n/4%3], now)
			require.NoError(t, err)
			for _, c := range s.Conditions {
				found["AgentClusterInstall "+string(c.Type)+" "+c.Reason] = true
			}
		}
	}
}

// The test prints which reasons of the contract conditions get, and which they do not.
func TestConditionsHaveTheReasonsOfTheContract(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC))
	found := reasons{}
	ofAgents(t, found, now)
	ofClusters(t, found, now)
	env := &agentinstall.InfraEnv{}
	found.add("InfraEnv", infraenv.Ready(infraenv.Inputs{Resource: env}, &wire.InfraEnv{}, wire.BootArtifacts{}, false, now).Conditions)
	found.add("InfraEnv", infraenv.Failed(env, errors.New("bad"), true, now).Conditions)
	found.add("InfraEnv", infraenv.Failed(env, &resource.MissingDeploymentError{}, true, now).Conditions)
	class := &agentinstall.AgentClassification{Spec: agentinstall.AgentClassificationSpec{LabelKey: "a", LabelValue: "b", Query: "true"}}
	found.add("AgentClassification", classification.Status(class, nil, now).Conditions)
	class.Spec.Query = "("
	found.add("AgentClassification", classification.Status(class, nil, now).Conditions)

	for _, condition := range slices.Sorted(maps.Keys(wanted)) {
		reached, all := 0, strings.Fields(wanted[condition])
		for _, reason := range all {
			name := condition + " " + reason
			if found[name] {
				reached++
			}
			require.Equal(t, unreached[name] == "", found[name], name)
		}
		fmt.Printf("%-50s %d/%d\n", condition, reached, len(all))
	}
	for _, name := range slices.Sorted(maps.Keys(unreached)) {
		fmt.Printf("%s: %s\n", name, unreached[name])
	}
}
