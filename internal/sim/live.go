package sim

import (
	"context"
	"net/http"
	"sync"
	"time"

	"slipway/agent"
	"slipway/installer"
	installerkube "slipway/installer/kubeapi"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/sim/hardware"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
)

// agentRestart is the pause of agent.service before it starts a failed agent again.
const agentRestart = 3 * time.Second

// runLive runs a boot of the live image: the agent, and the bootstrap services once they are started.
func (m *Machine) runLive(ctx context.Context) error {
	if err := m.booted(ctx); err != nil {
		return err
	}
	var units sync.WaitGroup
	units.Go(func() { m.runAgent(ctx, false) })
	units.Go(func() {
		if err := m.runBootstrap(ctx); err != nil && ctx.Err() == nil {
			m.log.Error("bootstrap services failed", "error", err)
		}
	})
	units.Go(func() {
		if err := m.beMissed(ctx); err != nil && ctx.Err() == nil {
			m.log.Error("the cluster does not miss its node", "error", err)
		}
	})
	units.Wait()
	return ctx.Err()
}

// beMissed lets the cluster miss the node that the machine was, as its node controller does after the grace period.
func (m *Machine) beMissed(ctx context.Context) error {
	state := m.State()
	if state.Node == "" {
		return nil
	}
	if err := m.clock.Until(ctx, state.BootedAt, m.times.NodeGrace, m.options.Now()); err != nil {
		return err
	}
	api, err := m.waitAPI(ctx)
	if err != nil {
		return err
	}
	if err := kubeapi.MissNode(ctx, api, state.Node, m.options.Now()); err != nil {
		return err
	}
	return m.memory.update(func(s *State) { s.Node = "" })
}

// runAgent plays agent.service: it starts the real agent again whenever that ends. With reclaim it serves the
// installed system.
func (m *Machine) runAgent(ctx context.Context, reclaim bool) {
	for ctx.Err() == nil {
		m.note(Entry{Event: EventAgentStarted})
		if err := m.newAgent(reclaim).Run(ctx); err != nil {
			m.log.Error("agent ended", "error", err)
		}
		if m.clock.Pause(ctx, agentRestart) != nil {
			return
		}
	}
}

func (m *Machine) newAgent(reclaim bool) *agent.Agent {
	options := agent.Options{
		Client: client.New(client.Options{
			BaseURL: m.options.ServiceURL, Token: m.options.Token, AgentVersion: m.options.AgentVersion,
			IgnoreHostToken: m.options.AgentSteps == model.InstallStep,
			UserAgent:       "slipway-agent", HTTPClient: &http.Client{Transport: m.network},
		}),
		Platform: agent.Platform{
			Root: m.options.root(), Runner: shell{m}, Links: hardware.Links{Spec: &m.options.Spec},
			Neighbours: lan{m}, DiskSpeed: disks{m}, Leases: lan{m},
			Resolver: site.Resolver{Site: m.options.Site}, Kube: openKube, Now: m.options.Now, Sleep: m.clock.Pause,
			HTTP:   elsewhere{m},
			BootID: func() (string, error) { return m.State().BootID, nil },
		},
		CACert:     m.options.AuthorityPath,
		InfraEnvID: m.options.InfraEnvID,
		AgentSteps: m.options.AgentSteps,
		Reclaim:    reclaim,
		Log:        m.log,
	}
	if m.options.AgentSteps == model.InstallStep {
		options.InContainer = m.installInContainer
	}
	return agent.New(options)
}

func openKube(kubeconfig []byte) (installer.Kube, error) { return installerkube.Open(kubeconfig) }
