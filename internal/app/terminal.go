package app

import (
	"os"

	"golang.org/x/term"

	"slipway/internal/app/process"
	usercli "slipway/internal/cli"
)

// userCommands are the commands that call the API of a running service.
type userCommands struct {
	Cluster   usercli.ClusterCommands   `cmd:"" help:"Define, install and show clusters."`
	Host      usercli.HostCommands      `cmd:"" help:"Show and change hosts, add them to clusters, retry failed ones."`
	InfraEnv  usercli.InfraEnvCommands  `cmd:"" name:"infra-env" help:"Manage InfraEnvs: the settings of discovery images."`
	Image     usercli.ImageCommands     `cmd:"" help:"Download discovery images."`
	Wait      usercli.WaitCommands      `cmd:"" help:"Wait for a cluster or a host."`
	Versions  usercli.VersionsCommand   `cmd:"" help:"List the available OpenShift versions."`
	Operators usercli.OperatorsCommands `cmd:"" help:"List the operators that can be installed with a cluster."`
	Features  usercli.FeaturesCommand   `cmd:"" help:"List the features that a version lacks."`
}

// ProvideTerminal returns the terminal that commands print to.
func (*userCommands) ProvideTerminal(p *process.Process) *usercli.Terminal {
	t := &usercli.Terminal{Out: p.Stdout, Err: p.Stderr, Now: p.Now}
	file, isFile := p.Stdout.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.Interactive = true
	if width, height, err := term.GetSize(int(file.Fd())); err == nil {
		t.Width, t.Height = width, height
	}
	return t
}
