package activities

import (
	"cmp"
	"fmt"

	"slipway/internal/model"
)

// checkController refuses a cluster whose control plane could not start the controller: it runs on any of its nodes,
// and without it the bootstrap host waits until its time is over. Agents of other implementations bring an image.
func (a *Files) checkController(c *model.Cluster, hosts []*model.Host) error {
	if a.Dummy || a.ControllerImage != "" || a.ControllerPrograms == nil {
		return nil
	}
	programs, err := a.ControllerPrograms()
	if err != nil {
		return fmt.Errorf("read the programs of the controller: %w", err)
	}
	for _, h := range hosts {
		if h.EffectiveRole() != model.RoleMaster || h.AgentSteps != model.FineSteps || h.Inventory == nil {
			continue
		}
		architecture := cmp.Or(h.Inventory.CPU.Architecture, c.CPUArchitecture)
		if _, ok := programs[architecture]; !ok && architecture != "" {
			return model.Unprocessablef("host %s: require a program slipway-controller for %s, the service has none: "+
				"build it with make build, name its folder in SLIPWAY_AGENT_BINARIES, or an image with it in CONTROLLER_IMAGE",
				h.Hostname(), architecture)
		}
	}
	return nil
}
