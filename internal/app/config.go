package app

import (
	"fmt"

	"github.com/alecthomas/kong"

	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
)

// configCommands show and check the settings of the service.
type configCommands struct {
	Show    configShowCommand    `cmd:"" help:"Print each setting of slipway up, with its value and where that is from."`
	Check   configCheckCommand   `cmd:"" help:"Read the settings of slipway up as a start would, and run nothing."`
	Example configExampleCommand `cmd:"" help:"Print a file with all settings, their defaults and what they do, all of them commented out."`
}

// configShowCommand takes the flags of slipway up, and runs nothing.
type configShowCommand struct{ settings.Up }

// Run prints the settings.
func (*configShowCommand) Run(ctx *kong.Context, s *settings.Sources, p *process.Process) error {
	return settings.Show(p.Stdout, ctx, s)
}

// configCheckCommand takes the flags of slipway up.
type configCheckCommand struct{ settings.Up }

// Run returns what a start would end with, as far as the settings alone decide it.
func (c *configCheckCommand) Run(p *process.Process, s *settings.Sources) error {
	if err := service.New(p, c.Service).CheckSettings(c.Listen); err != nil {
		return err
	}
	from := "flags and variables"
	if s.File != nil {
		from += ", and " + s.File.Path
	}
	fmt.Fprintln(p.Stdout, "settings are in order: "+from)
	return nil
}

// configExampleCommand prints an example of the file.
type configExampleCommand struct{}

// Run prints YAML.
func (configExampleCommand) Run(p *process.Process) error { return settings.Example(p.Stdout) }
