package app

import (
	"github.com/alecthomas/kong"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
)

// configCommands show the settings of the service.
type configCommands struct {
	Show configShowCommand `cmd:"" help:"Print each setting of slipway up, with its value and where that is from."`
}

// configShowCommand takes the flags of slipway up, and runs nothing.
type configShowCommand struct{ settings.Up }

// Run prints the settings.
func (*configShowCommand) Run(ctx *kong.Context, s *settings.Sources, p *process.Process) error {
	return settings.Show(p.Stdout, ctx, s)
}
