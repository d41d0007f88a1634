package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"slipway/internal/platform/engine"
)

// versionCommand prints what this program is made of.
type versionCommand struct{}

// Run prints one line.
func (versionCommand) Run(p *process) error {
	fmt.Fprintf(p.stdout, "slipway %s (Temporal server %s)\n", version(), engine.ServerVersion)
	return nil
}

// version is the module's version, and for a build from a checkout its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	parts := []string{info.Main.Version}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			parts = append(parts, s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			parts = append(parts, "modified")
		}
	}
	return strings.Join(parts, " ")
}
