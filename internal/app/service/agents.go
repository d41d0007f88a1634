package service

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"slipway/api"
	"slipway/internal/app/settings"
	"slipway/internal/service/orchestrator"
	"slipway/internal/wire"
)

// agentFolder holds the programs of the agent.
func (s *Service) agentFolder() (fs.FS, error) {
	folder, err := settings.ProgramFolder(s.options.AgentBinaries)
	if err != nil {
		return nil, err
	}
	return os.DirFS(folder), nil
}

// agentRelease is an agent that hosts upgrade to.
type agentRelease struct {
	version  string // empty: no host upgrades
	programs func() (map[string]wire.AgentProgram, error)
}

// agentRelease returns the agent of this service. It is empty where upgrades are switched off, or this process has no program to
// offer.
func (s *Service) agentRelease() (agentRelease, error) {
	folder, err := s.agentFolder()
	if err != nil || !s.variables.UpgradeAgent {
		return agentRelease{}, err
	}
	programs := api.AgentPrograms(folder)
	found, err := fs.Glob(folder, "slipway-agent-*")
	if err != nil || len(found) == 0 {
		return agentRelease{}, err
	}
	return agentRelease{version: agentVersion(), programs: programs}, nil
}

// controllerPrograms lists the programs of the controller; without one new clusters need CONTROLLER_IMAGE.
func (s *Service) controllerPrograms(ctx context.Context) (func() (map[string]wire.AgentProgram, error), error) {
	folder, err := s.agentFolder()
	if err != nil {
		return nil, err
	}
	list := api.ControllerPrograms(folder)
	found, err := list()
	if err != nil {
		return nil, fmt.Errorf("read the programs of the controller: %w", err)
	}
	if len(found) == 0 && s.variables.ControllerImage == "" {
		s.logger.WarnContext(ctx, "new clusters cannot finish: there is neither a program slipway-controller-<architecture> nor CONTROLLER_IMAGE",
			"folder", folder)
	}
	return list, nil
}

// housekeeping returns how long unused objects are kept.
func (s *Service) housekeeping() orchestrator.Housekeeping {
	v := s.variables
	return orchestrator.Housekeeping{
		Inactive: v.InactiveAfter, Deleted: v.DeletedAfter, Audit: v.Audit,
		EveryInactive: v.EveryInactive, EveryPurge: v.EveryPurge, EveryInfraEnvs: v.EveryInfraEnv,
	}
}
