package api

import (
	"errors"
	"io/fs"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// AgentPrograms returns a function that lists the programs of the agent in a folder, for agents that are upgraded.
func AgentPrograms(folder fs.FS) func() (map[string]wire.AgentProgram, error) {
	files := newAgentFiles(folder)
	return func() (map[string]wire.AgentProgram, error) {
		out := map[string]wire.AgentProgram{}
		for architecture := range agentArchitectures {
			name, sum, err := files.program(architecture)
			if errors.Is(err, model.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out[architecture] = wire.AgentProgram{Path: agentPath + name, SHA256: sum}
		}
		return out, nil
	}
}

// agentFor is what an agent that registers has to be: one of another make stays what it
// is, unless the deployment names an image.
func (s *server) agentFor(h *model.Host) string {
	if h.AgentSteps == model.FineSteps {
		return s.AgentVersion
	}
	return or(s.ForeignAgent, or(h.DiscoveryAgentVersion, s.AgentVersion))
}

// agentPath is where the programs are offered.
const agentPath = "/agent/"
