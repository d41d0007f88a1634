package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

const own = api.OwnPath + "/v1"

func ownClusterPath(id uuid.UUID) string { return own + "/clusters/" + id.String() }

func ownHostPath(infraEnvID, id uuid.UUID) string {
	return own + "/infra-envs/" + infraEnvID.String() + "/hosts/" + id.String()
}

func TestCommandsReachTheOrchestrator(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	for _, path := range []string{
		ownClusterPath(c.ID) + "/commands/pause", ownClusterPath(c.ID) + "/commands/resume/",
		own + "//clusters/" + c.ID.String() + "/commands/extend", ownHostPath(e.ID, h.ID) + "/commands/retry-step",
		ownHostPath(e.ID, h.ID) + "/commands/evict", ownHostPath(e.ID, h.ID) + "/commands/retry",
	} {
		require.Empty(t, s.want(http.StatusAccepted, http.MethodPost, path, nil).Body)
	}
	cluster, host := c.ID.String(), h.ID.String()
	require.Equal(t, []string{
		"pause cluster " + cluster, "resume cluster " + cluster, "extend cluster " + cluster,
		"retry-step host " + host, "evict host " + host, "retry host " + host,
	}, s.orchestrator.commands)
}

func TestRefusedCommandsSayWhy(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := uuid.New()
	for name, refusal := range map[string]struct {
		err    error
		status int
	}{
		"an unknown command": {
			model.Invalidf(`command: require one of pause, resume, extend, found "stop"`), http.StatusBadRequest,
		},
		"a missing cluster":               {model.NotFoundf("cluster %s does not exist", id), http.StatusNotFound},
		"a state that does not allow it":  {model.Conflictf("the installation is paused already"), http.StatusConflict},
		"a workflow that does not answer": {model.ErrUnavailable, http.StatusServiceUnavailable},
	} {
		s.orchestrator.err = refusal.err
		for _, path := range []string{ownClusterPath(id) + "/commands/x", ownHostPath(id, id) + "/commands/x"} {
			got := s.send(http.MethodPost, path, nil).Reason(refusal.status)
			if refusal.status != http.StatusServiceUnavailable {
				require.Equal(t, refusal.err.Error(), got, name)
			}
		}
		s.send(http.MethodGet, ownClusterPath(id)+"/workflow", nil).Reason(refusal.status)
	}
}

func TestWorkflowOfARunningInstallationIsShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	host := uuid.New()
	s.orchestrator.state = wire.WorkflowState{
		Phase: "installing", Paused: true,
		Hosts: []wire.WorkflowHost{{HostID: host, State: wire.WorkflowWaiting, Reason: "Writing image to disk: I/O error"}},
	}
	got := s.want(http.StatusOK, http.MethodGet, ownClusterPath(uuid.New())+"/workflow", nil).Object()
	require.Equal(t, map[string]any{
		"phase": "installing", "paused": true, "timed_out": false,
		"hosts": []any{
			map[string]any{"host_id": host.String(), "state": "waiting-for-decision", "reason": "Writing image to disk: I/O error"},
		},
	}, got)
}

func TestOwnAddressesAreCheckedLikeThoseOfTheContract(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := uuid.NewString()
	for path, want := range map[string]string{
		own + "/clusters/17/commands/pause":                        `cluster_id: require a UUID, found "17"`,
		own + "/infra-envs/17/hosts/" + id + "/commands/retry":     `infra_env_id: require a UUID, found "17"`,
		own + "/infra-envs/" + id + "/hosts/17/commands/retry":     `host_id: require a UUID, found "17"`,
		own + "/infra-envs/" + id + "/hosts/sev-en/commands/evict": `host_id: require a UUID, found "sev-en"`,
	} {
		require.Contains(t, s.send(http.MethodPost, path, nil).Reason(http.StatusBadRequest), want)
	}
	s.send(http.MethodGet, own+"/clusters/17/workflow", nil).Reason(http.StatusBadRequest)
	s.send(http.MethodGet, own+"/nowhere", nil).Reason(http.StatusNotFound)
	r := s.send(http.MethodGet, own+"/clusters/"+id+"/commands/pause", nil)
	r.Reason(http.StatusMethodNotAllowed)
	require.Equal(t, "POST", r.Header.Get("Allow"))
	require.Empty(t, s.orchestrator.commands)
}

func TestCommandsAskForLeave(t *testing.T) {
	t.Parallel()
	var asked []string
	s := newService(t, func(o *api.Options) {
		o.Authorize = func(_ context.Context, _ admission.Caller, operation string, object admission.Object) error {
			asked = append(
				asked,
				operation+" "+strings.ReplaceAll(
					object.ClusterID.String()+object.InfraEnvID.String()+object.HostID.String(),
					uuid.Nil.String(),
					"",
				),
			)
			return httpapi.ErrForbidden
		}
	})
	id := uuid.New()
	s.want(http.StatusForbidden, http.MethodPost, ownClusterPath(id)+"/commands/pause", nil)
	s.want(http.StatusForbidden, http.MethodGet, ownClusterPath(id)+"/workflow", nil)
	s.want(http.StatusForbidden, http.MethodPost, ownHostPath(id, id)+"/commands/retry", nil)
	require.Equal(t, []string{
		"CommandCluster " + id.String(), "ShowWorkflow " + id.String(), "CommandHost " + id.String() + id.String(),
	}, asked)
	require.Empty(t, s.orchestrator.commands)
}

func TestOwnDocumentIsValidAndServed(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("slipway.yaml")
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	s := newService(t)
	served := s.want(http.StatusOK, http.MethodGet, api.OwnPath+"/openapi", nil).Object()
	require.Len(t, served["paths"], doc.Paths.Len())
	require.Equal(t, "Authorization", doc.Components.SecuritySchemes["userAuth"].Value.Name, "what Swagger UI asks for")
	require.Equal(t, openapi3.SecurityRequirements{{"userAuth": {}}}, doc.Security)
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			require.Nil(t, o.Security, "%s %s is called without a credential", method, path)
			require.NotEmpty(t, o.Tags, "%s %s", method, path)
		}
	}
}

func TestLiveImagesAreListed(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *api.Options) {
		o.OSImages = func() openshift.OSImages {
			return openshift.OSImages{{
				OpenShiftVersion: "4.22", CPUArchitecture: "arm64", Version: "9.8", URL: "https://user:secret@mirror.example/live.iso",
				SHA256: "5f2b",
			}}
		}
	})
	require.Equal(t, []map[string]any{{"openshift_version": "4.22", "cpu_architecture": "arm64", "version": "9.8", "sha256": "5f2b"}},
		s.want(http.StatusOK, http.MethodGet, api.OwnPath+"/v1/os-images", nil).List(), "and no address")
	require.Empty(t, newService(t).want(http.StatusOK, http.MethodGet, api.OwnPath+"/v1/os-images", nil).List())
}
