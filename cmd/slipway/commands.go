package main

import (
	"fmt"
	"os"

	"golang.org/x/term"

	usercli "slipway/internal/cli"
	"slipway/internal/sim/commands"
	"slipway/internal/sim/demo"
)

// userCommands are those that do not run a part of the service: they speak to one, or
// show one at work.
type userCommands struct {
	Cluster   usercli.ClusterCommands   `cmd:"" help:"Define, install and look at clusters."`
	Host      usercli.HostCommands      `cmd:"" help:"Look at hosts, change them, add them to clusters, start failed ones again."`
	InfraEnv  usercli.InfraEnvCommands  `cmd:"" name:"infra-env" help:"Discovery environments: what hosts boot with."`
	Image     usercli.ImageCommands     `cmd:"" help:"Discovery images."`
	Wait      usercli.WaitCommands      `cmd:"" help:"Wait for a cluster or a host."`
	Versions  usercli.VersionsCommand   `cmd:"" help:"List the OpenShift versions on offer."`
	Operators usercli.OperatorsCommands `cmd:"" help:"Operators that can be installed with a cluster."`
	Features  usercli.FeaturesCommand   `cmd:"" help:"Tell which features a version does not have."`
	Demo      demo.Command              `cmd:"" help:"Install clusters on simulated machines, with the real service."`
	Sim       commands.Commands         `cmd:"" hidden:"" help:"Play one part of a simulated cluster."`
}

// ProvideTerminal gives the commands where they print.
func (*userCommands) ProvideTerminal(p *process) *usercli.Terminal {
	t := &usercli.Terminal{Out: p.stdout, Err: p.stderr, Now: p.now}
	file, isFile := p.stdout.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.Interactive = true
	if width, height, err := term.GetSize(int(file.Fd())); err == nil {
		t.Width, t.Height = width, height
	}
	return t
}

// ProvideDemo gives the demo what it starts.
func (*userCommands) ProvideDemo(t *usercli.Terminal) (*demo.Environment, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &demo.Environment{Executable: self, Terminal: t, TempDir: os.TempDir()}, nil
}

// ProvideSimulated gives the parts of a simulated cluster their process.
func (*userCommands) ProvideSimulated(p *process) *commands.Process {
	return &commands.Process{Stdout: p.stdout, Stderr: p.stderr, Env: os.Environ(), Now: p.now}
}
