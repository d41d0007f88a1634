package discovery

import (
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/programsig"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// upgrade returns the replacement of the Slipway agent that polls, signed for its host in this boot.
func (p *poll) upgrade() (*wire.AgentUpgrade, error) {
	programs, err := p.options.AgentPrograms()
	if err != nil {
		return nil, err
	}
	to := p.due.RequiredAgent(model.FineSteps)
	signed := make(map[string]wire.AgentProgram, len(programs))
	for architecture, program := range programs {
		program.Signatures, err = p.options.Signer.Sign(programsig.Change{
			HostID: p.in.HostID.String(), Boot: p.in.Boot, From: p.in.AgentVersion, To: to,
			Architecture: architecture, SHA256: program.SHA256,
		})
		if err != nil {
			p.log.Warn("program of the agent not signed", "host", p.in.HostID, "error", err)
		}
		signed[architecture] = program
	}
	return &wire.AgentUpgrade{AgentImage: to, Programs: signed}, nil
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
