// Package app is the command line of slipway: the commands that run parts of the service, and
// the commands that call its API.
package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/willabides/kongplete"

	"slipway/internal/app/backup"
	"slipway/internal/app/hub"
	"slipway/internal/app/images"
	"slipway/internal/app/keys"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/app/setup"
	"slipway/internal/app/versions"
	usercli "slipway/internal/cli"
	"slipway/internal/cli/view"
	"slipway/internal/version"
)

// cli is the command line: one field a command, each with its Run method in a file of its own.
type cli struct {
	Log settings.Log `embed:"" prefix:"log-"`

	Up      upCommand       `cmd:"" help:"Run everything: database, Temporal, worker and API."`
	API     apiCommand      `cmd:"" name:"api" help:"Run the API alone, with an existing database and Temporal."`
	Worker  workerCommand   `cmd:"" help:"Run a worker alone, with an existing database and Temporal."`
	Images  images.Commands `cmd:"" help:"Serve discovery images, and manage the live ISOs they are made of."`
	Kube    hub.Commands    `cmd:"" help:"Serve Slipway's API as resources of Kubernetes, on a hub cluster."`
	Migrate migrateCommand  `cmd:"" help:"Migrate an existing database, and run nothing."`
	Config  configCommands  `cmd:"" help:"Show and check the settings of the service."`
	Doctor  doctorCommand   `cmd:"" help:"Examine this machine and what the service needs: what is wrong, and what to do."`
	Version versionCommand  `cmd:"" help:"Print the version."`

	InstallService setup.InstallCommand `cmd:"" name:"install-service" help:"Install the service on this machine without a package, or upgrade it."`
	RemoveService  setup.RemoveCommand  `cmd:"" name:"remove-service" help:"Remove a service that install-service installed; its data stays."`

	AgentToken agentTokenCommand `cmd:"" help:"Sign a token of the v2 API for an InfraEnv or a cluster, with the service's keys."`

	Backup  backup.Command        `cmd:"" help:"Write an encrypted backup of everything that a service keeps, while it runs."`
	Restore backup.RestoreCommand `cmd:"" help:"Restore a backup into an empty data folder, or an empty database."`

	Keys keys.Commands `cmd:"" help:"Show and replace the keys that encrypt the secrets of a service on this machine."`

	userCommands

	Completion completionCommand `cmd:"" help:"Print the completion of a shell."`
	Man        manCommand        `cmd:"" help:"Print the manual page: slipway man | man -l -"`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// userCommands are the commands that call the API of a running service.
type userCommands struct {
	Login     usercli.LoginCommand      `cmd:"" help:"Log in to a service with a token, and keep it as the current context."`
	Context   usercli.ContextCommands   `cmd:"" help:"Manage the services that you have logged in to."`
	User      usercli.UserCommands      `cmd:"" help:"List and forget users of an issuer of OpenID Connect."`
	Token     usercli.TokenCommands     `cmd:"" help:"Make, list and revoke tokens of users."`
	Audit     usercli.AuditCommand      `cmd:"" help:"List what users did: commands, sign-ins, and reads of secrets."`
	Cluster   usercli.ClusterCommands   `cmd:"" help:"Define, install and show clusters."`
	Host      usercli.HostCommands      `cmd:"" help:"Show and change hosts, add them to clusters, retry failed ones."`
	InfraEnv  usercli.InfraEnvCommands  `cmd:"" name:"infra-env" help:"Manage InfraEnvs: the settings of discovery images."`
	Image     usercli.ImageCommands     `cmd:"" help:"Download discovery images."`
	Wait      usercli.WaitCommands      `cmd:"" help:"Wait for a cluster or a host."`
	Versions  versions.Commands         `cmd:"" help:"List the available OpenShift versions, and look for newer ones."`
	Operators usercli.OperatorsCommands `cmd:"" help:"List the operators that can be installed with a cluster."`
	Features  usercli.FeaturesCommand   `cmd:"" help:"List the features that a version lacks."`
}

// ProvideTerminal returns the terminal that commands print to.
func (*userCommands) ProvideTerminal(p *process.Process) *usercli.Terminal {
	return usercli.NewTerminal(p.Stdout, p.Stderr, p.Now)
}

// Main runs the command that args name until it ends or ctx is done, prints its error, and
// returns the exit code.
func Main(ctx context.Context, p *process.Process, args []string) int {
	err := execute(ctx, p, args)
	code := usercli.ExitCode(err)
	switch {
	case err == nil:
	case asksForJSON(args):
		_ = json.NewEncoder(p.Stderr).Encode(failure{oneLine(err), code}) // the reader has gone
	default:
		fmt.Fprintln(p.Stderr, "slipway:", oneLine(err))
	}
	return code
}

// failure is the JSON of an error.
type failure struct {
	Error    string `json:"error"`
	ExitCode int    `json:"exit_code"`
}

func execute(ctx context.Context, p *process.Process, args []string) error {
	var line cli
	sources := &settings.Sources{Env: p.Env, Default: settings.DefaultFile}
	parser, err := kong.New(&line, append(usercli.Options(),
		kong.Name("slipway"),
		kong.Description("Installs OpenShift on bare metal."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p, sources),
		kong.Vars{"version": "slipway " + version.Read().String()},
	)...)
	if err != nil {
		return fmt.Errorf("read command line: %w", err)
	}
	if _, completing := p.Env.LookupEnv("COMP_LINE"); completing { // which posener/complete reads
		kongplete.Complete(parser, kongplete.WithPredictors(usercli.Predictors(ctx)))
	}
	selected, err := parser.Parse(arrange(parser.Model, args))
	if err != nil {
		return fmt.Errorf("%w (see slipway --help)", err)
	}
	p.Env = sources.Variables()
	p.Log = process.NewLogger(p.Stderr, line.Log.Level, line.Log.Format)
	slog.SetDefault(process.ForLibraries(p.Log))
	return selected.Run(parser.Model)
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(view.Plain(err.Error()), func(r rune) bool { return r == '\n' }), "; ")
}
