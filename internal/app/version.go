package app

import (
	"encoding/json"
	"fmt"

	"slipway/internal/app/process"
	"slipway/internal/platform/engine"
	"slipway/internal/version"
)

// versionCommand prints the version of this program.
type versionCommand struct {
	Output string `short:"o" default:"text" enum:"text,json" help:"Output format: text or json."`
}

// versionReport is the JSON of the command.
type versionReport struct {
	version.Info
	BuildID  string `json:"build_id"`
	Temporal string `json:"temporal_server"`
}

// Run prints one line, or one JSON object.
func (c *versionCommand) Run(p *process.Process) error {
	info := version.Read()
	if c.Output == "json" {
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(versionReport{Info: info, BuildID: info.BuildID(), Temporal: engine.ServerVersion}); err != nil {
			return fmt.Errorf("write the version: %w", err)
		}
		return nil
	}
	fmt.Fprintf(p.Stdout, "slipway %s, Temporal server %s\n", info, engine.ServerVersion)
	return nil
}
