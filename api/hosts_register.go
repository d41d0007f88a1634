package api

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// nextStepRunner is the command that an agent receives at its registration. Agents take its arguments and run the steps
// themselves.
type nextStepRunner struct {
	Command      string   `json:"command"`
	Args         []string `json:"args"`
	RetrySeconds int      `json:"retry_seconds"`
}

// registration is the answer to a host that registers.
type registration struct {
	wire.Host
	NextStepRunnerCommand nextStepRunner `json:"next_step_runner_command"`
}

// runnerPause is how long an agent whose step runner failed waits before it registers again.
const runnerPause = time.Minute

func registrationToWire(h *model.Host, agentVersion string) registration {
	return registration{
		Host: answers.Host(h, answers.Whole),
		NextStepRunnerCommand: nextStepRunner{
			Args: []string{wire.Text(wire.NextStepCmdRequest{
				InfraEnvID: h.InfraEnvID, HostID: h.ID, AgentVersion: or(agentVersion, h.DiscoveryAgentVersion),
			})},
			RetrySeconds: int(runnerPause / time.Second),
		},
	}
}

// labelsFromWire reads the labels of a node.
func labelsFromWire(list []wire.NodeLabelParams) map[string]string {
	labels := make(map[string]string, len(list))
	for _, l := range list {
		labels[strings.TrimSpace(l.Key)] = l.Value
	}
	return labels
}

func stageFromWire(p wire.HostProgress) (model.Stage, string) {
	return model.Stage(deref(p.CurrentStage)), redact.Text(deref(p.ProgressInfo))
}

func idOrNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}
