// Program reachable stands for cmd/slipway when dead code is looked for: everything that
// `slipway up` starts but the bundled Temporal server, whose source alone takes minutes to
// analyse. It is never run.
package main

import (
	"context"
	"errors"

	"github.com/alecthomas/kong"

	"slipway/internal/app/backup"
	"slipway/internal/app/doctor"
	"slipway/internal/app/hub"
	"slipway/internal/app/images"
	"slipway/internal/app/keys"
	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
	"slipway/internal/app/setup"
	"slipway/internal/app/versions"
	"slipway/internal/cli"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/postgres"
	"slipway/internal/platform/store"
	"slipway/internal/version"
)

// commands of internal/app, which links the Temporal server.
type commands struct {
	settings.Service
	Log       settings.Log
	Keys      settings.Keys
	Rotation  keys.Commands
	Backup    backup.Command
	Restore   backup.RestoreCommand
	Install   setup.InstallCommand
	Remove    setup.RemoveCommand
	Kube      hub.Commands
	Images    images.Commands
	Login     cli.LoginCommand
	Context   cli.ContextCommands
	User      cli.UserCommands
	Token     cli.TokenCommands
	Audit     cli.AuditCommand
	Cluster   cli.ClusterCommands
	Host      cli.HostCommands
	InfraEnv  cli.InfraEnvCommands
	Image     cli.ImageCommands
	Wait      cli.WaitCommands
	Versions  versions.Commands
	Operators cli.OperatorsCommands
	Features  cli.FeaturesCommand
}

func main() {
	var line commands
	sources := &settings.Sources{}
	parsed := kong.Parse(&line, append(cli.Options(), kong.Bind(sources))...)
	cli.Predictors(context.Background())
	p := &process.Process{Env: sources.Variables()}
	_, _ = settings.Show(p.Stdout, parsed, sources), settings.Example(p.Stdout)
	p.Log = process.ForLibraries(process.NewLogger(p.Stderr, line.Log.Level, line.Log.Format))
	cli.NewTerminal(p.Stdout, p.Stderr, p.Now)
	println(version.Read().String(), cli.ExitCode(nil))
	run(context.Background(), p, &line)
	found := doctor.Examine(context.Background(), doctor.Patient{
		Reader: service.New(p, line.Service), Machine: doctor.ThisMachine(), Process: p,
	})
	found = append(found, doctor.Ready(context.Background(), doctor.Patient{Process: p})...)
	println(doctor.Count(found), doctor.Worst(found), doctor.Print(p.Stdout, found), doctor.PrintJSON(p.Stdout, found))
}

// run does what the commands up, api, worker, migrate and agent-token do.
func run(ctx context.Context, p *process.Process, line *commands) {
	s := service.New(p, line.Service)
	_ = s.CheckSettings("")
	database, err := postgres.Start(ctx, postgres.Options{})
	if err == nil {
		s.DatabaseURL = database.URL()
		s.Shutdown.Add("database", process.DrainTime, database.Stop)
		s.Shutdown.Watch(database.Done(), database.Err)
	}
	_ = store.Migrate(ctx, s.DatabaseURL)
	s.Temporal, _, _ = frontend.External(p.Env)
	s.Temporal, _ = frontend.Bundled("", frontend.CertificatesIn(""))
	_ = s.Temporal.WriteConfig("", s.CodecAddress(), "")
	_ = s.Run(ctx, func(ctx context.Context) error {
		_, _, _, _, _ = s.ExternalTemporal(), errors.Join(s.Listen(""), s.ListenPlain("")), s.Connect(ctx), s.StartWorker(ctx), s.Serve(ctx)
		s.ServeProbes()
		s.AddMetrics(nil)
		s.Announce(p.Now(), s.UIAddress())
		controllers, err := hub.Beside("", line.Service)
		if err == nil {
			controllers.Follow(ctx, p)
		}
		return err
	})
	local, err := service.LocalIdentity(line.Keys, auth.ModeLocal, 0, p.Now)
	if err == nil {
		_, _ = local.Token(auth.Grant{})
	}
}
