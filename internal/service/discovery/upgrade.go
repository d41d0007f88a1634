package discovery

import (
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// AgentRelease is the agent that belongs to this service.
type AgentRelease struct {
	// Version is what it calls itself; empty: no agent of ours is upgraded.
	Version string
	// Programs are where it is, for each architecture.
	Programs func() (map[string]wire.AgentProgram, error)
}

func (a AgentRelease) upgrade() (*wire.AgentUpgrade, error) {
	programs, err := a.Programs()
	if err != nil {
		return nil, err
	}
	return &wire.AgentUpgrade{AgentImage: a.Version, Programs: programs}, nil
}

// requiredAgent is what an agent must call itself; empty takes any.
func (s *Service) requiredAgent(d model.AgentSteps) string {
	if d == model.FineSteps {
		return s.options.Agent.Version
	}
	return s.options.AgentImage
}

// mustUpgrade reports whether the version of an agent differs from the required one; an unknown version does not.
func (s *Service) mustUpgrade(d model.AgentSteps, version string) bool {
	want := s.requiredAgent(d)
	return want != "" && version != "" && version != want
}

// upgradeStarted records the event of an upgrade that was just requested.
func (s *Service) upgradeStarted(h *model.Host, asked []wire.Step, t *store.Tx) {
	for _, step := range asked {
		if step.StepType == wire.StepTypeUpgradeAgent {
			props := events.Props{"agent_image": s.requiredAgent(h.AgentSteps)}
			t.Event(events.New(events.UpgradeAgentStarted, lifecycle.AboutHost(h), props, t.Now()))
		}
	}
}
