package discovery

import (
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// upgrade returns the replacement of a Slipway agent.
func (s *Service) upgrade() (*wire.AgentUpgrade, error) {
	programs, err := s.options.AgentPrograms()
	if err != nil {
		return nil, err
	}
	return &wire.AgentUpgrade{AgentImage: s.due.RequiredAgent(model.FineSteps), Programs: programs}, nil
}

// upgradeStarted records the event of an upgrade that was just requested.
func (s *Service) upgradeStarted(h *model.Host, asked []wire.Step, t *store.Tx) {
	for _, step := range asked {
		if step.StepType == wire.StepTypeUpgradeAgent {
			props := events.Props{"agent_image": s.due.RequiredAgent(h.AgentSteps)}
			t.Event(events.New(events.UpgradeAgentStarted, lifecycle.AboutHost(h), props, t.Now()))
		}
	}
}
