package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

func TestRegisteringAgentIsToldWhatToRunNext(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *api.Options) { o.ForeignAgent = "agent:2" })
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	id := uuid.New()
	body := map[string]any{"host_id": id, "discovery_agent_version": "agent:1"}
	got := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+e.ID.String()+"/hosts", body).Object()
	require.Equal(t, id.String(), got["id"])
	require.Equal(t, "discovering", got["status"])
	require.Equal(t, "auto-assign", got["role"])
	require.Equal(t, id.String(), got["requested_hostname"], "a name is there before anybody knows one")
	require.Equal(t, c.ID.String(), got["cluster_id"])
	require.Equal(t, "agent:1", got["discovery_agent_version"])
	command := got["next_step_runner_command"].(map[string]any)
	require.Equal(t, "", command["command"])
	require.EqualValues(t, 60, command["retry_seconds"])
	args := command["args"].([]any)
	require.Len(t, args, 1)
	require.JSONEq(t, `{"infra_env_id":"`+e.ID.String()+`","host_id":"`+id.String()+`","agent_version":"agent:2"}`, args[0].(string))
	s.send(http.MethodPost, "/v2/infra-envs/"+uuid.NewString()+"/hosts", body).Reason(http.StatusNotFound)
}

func TestAgentSaysWhichStepsItTakes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	for header, want := range map[string]model.AgentSteps{"fine": model.FineSteps, "coarse": model.InstallStep, "": model.InstallStep} {
		id := uuid.New()
		s.want(
			http.StatusCreated,
			http.MethodPost,
			"/v2/infra-envs/"+e.ID.String()+"/hosts",
			map[string]any{"host_id": id},
			wire.HeaderSteps,
			header,
		)
		h, err := s.store.Host(t.Context(), e.ID, id)
		require.NoError(t, err)
		require.Equal(t, want, h.AgentSteps)
	}
}

func TestPollGetsStepsAndTheirReplyIsTaken(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	id := uuid.New()
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+e.ID.String()+"/hosts", map[string]any{"host_id": id})
	path := hostPath(e.ID, id) + "/instructions"
	var answer wire.Steps
	r := s.want(http.StatusOK, http.MethodGet, path+"?timestamp=1795192113", nil, "discovery_agent_version", "agent:1")
	r.JSON(&answer)
	require.Empty(t, r.Header.Get("Preference-Applied"))
	require.Len(t, answer.Instructions, 1)
	require.Equal(t, wire.StepTypeInventory, answer.Instructions[0].StepType)
	require.Equal(t, wire.Continue, answer.PostStepAction)
	inventory, err := json.Marshal(
		wire.Inventory{Hostname: "node-7", CPU: wire.CPU{Count: 8}, Memory: wire.Memory{PhysicalBytes: 32 << 30}},
	)
	require.NoError(t, err)
	s.want(http.StatusNoContent, http.MethodPost, path, wire.StepReply{
		StepType: answer.Instructions[0].StepType, StepID: answer.Instructions[0].StepID, Output: string(inventory),
	})
	require.Equal(t, "node-7", s.readHost(e.ID, id).RequestedHostname)
	s.send(http.MethodGet, hostPath(e.ID, uuid.New())+"/instructions", nil).Reason(http.StatusNotFound)
	s.want(
		http.StatusNoContent,
		http.MethodPost,
		path,
		wire.StepReply{StepType: steps.ImageWrite, StepID: "image-write-1", Output: "{}"},
	)
}

// waitingDiscovery remembers how long polls may be held.
type waitingDiscovery struct {
	api.Discovery
	waits []time.Duration
	next  int // seconds; above zero when it does not hold polls
}

func (d *waitingDiscovery) NextSteps(_ context.Context, in discovery.PollInput) (wire.Steps, error) {
	d.waits = append(d.waits, in.Wait)
	return wire.Steps{PostStepAction: wire.Continue, NextInstructionSeconds: d.next}, nil
}

func TestPollIsHeldAsLongAsTheAgentPrefers(t *testing.T) {
	t.Parallel()
	agents := &waitingDiscovery{}
	s := newService(t, func(o *api.Options) { o.Discovery = agents })
	path := hostPath(uuid.New(), uuid.New()) + "/instructions"
	for header, want := range map[string]time.Duration{
		"wait=30": 30 * time.Second, "respond-async, wait=10": 10 * time.Second, `WAIT="5"`: 5 * time.Second,
		"wait=3600": time.Minute, "wait=-1": 0, "wait=soon": 0, "handling=lenient": 0, "wait=99999999999999": time.Minute,
	} {
		agents.waits = nil
		r := s.want(http.StatusOK, http.MethodGet, path, nil, wire.HeaderPrefer, header)
		require.Equal(t, []time.Duration{want}, agents.waits, header)
		require.Equal(t, want > 0, r.Header.Get("Preference-Applied") != "", header)
		require.JSONEq(t, `{"instructions":[],"next_instruction_seconds":0,"post_step_action":"continue"}`, string(r.Body))
	}
	agents.next = 60
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, path, nil, wire.HeaderPrefer, "wait=30").Header.Get("Preference-Applied"),
		"an agent that is not held must not come back at once")
}

func TestProgressOfAHostIsReported(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status, h.Role = model.HostInstalling, model.RoleMaster })
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	path := hostPath(e.ID, h.ID)
	s.want(http.StatusOK, http.MethodPut, path+"/progress", `{"current_stage":"Writing image to disk","progress_info":"42%"}`)
	got := s.readHost(e.ID, h.ID)
	require.Equal(t, wire.HostStage("Writing image to disk"), got.Progress.CurrentStage)
	require.Equal(t, "42%", got.Progress.ProgressInfo)
	require.Contains(
		t,
		s.send(http.MethodPut, path+"/progress", `{"current_stage":"Dancing"}`).Reason(http.StatusBadRequest),
		"Dancing",
	)
	require.Contains(t, s.send(http.MethodPut, path+"/progress", `{}`).Reason(http.StatusBadRequest), "current_stage")
	s.want(http.StatusNoContent, http.MethodPut, path+"/logs-progress", `{"logs_state":"requested"}`)
	require.Equal(t, wire.LogsState("requested"), s.readHost(e.ID, h.ID).LogsInfo)
}
