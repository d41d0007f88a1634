package app

import (
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
	return usercli.NewTerminal(p.Stdout, p.Stderr, p.Now)
}
