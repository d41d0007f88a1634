// Command slipway is the service that installs OpenShift clusters, and the user's way to it.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"go.temporal.io/sdk/contrib/envconfig"

	usercli "slipway/internal/cli"
)

// cli is the command line: one field a command, each with its Run method in a file of its own.
type cli struct {
	Log logOptions `embed:"" prefix:"log-"`

	Up      upCommand      `cmd:"" help:"Run everything: database, Temporal, worker and API."`
	API     apiCommand     `cmd:"" name:"api" help:"Run the API alone, against a database and a Temporal of your own."`
	Worker  workerCommand  `cmd:"" help:"Run a worker alone, against a database and a Temporal of your own."`
	Images  imagesCommands `cmd:"" help:"Send discovery images; the live ISOs they are made of."`
	Migrate migrateCommand `cmd:"" help:"Bring a database of your own up to date, and run nothing."`
	Token   tokenCommand   `cmd:"" help:"Sign a token for AUTH_TYPE=local with the service's keys."`
	Version versionCommand `cmd:"" help:"Print the version."`

	userCommands
}

// process is what commands get from the process they run in.
type process struct {
	stdout io.Writer
	stderr io.Writer
	logger *slog.Logger
	env    envconfig.EnvLookup
	now    func() time.Time
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// The first signal asks to end; the second one, no longer caught, ends at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	p := &process{stdout: os.Stdout, stderr: os.Stderr, env: envconfig.EnvLookupOS, now: time.Now}
	if err := p.execute(ctx, args); err != nil {
		fmt.Fprintln(p.stderr, "slipway:", oneLine(err))
		return usercli.ExitCode(err)
	}
	return 0
}

func (p *process) execute(ctx context.Context, args []string) error {
	var line cli
	parser, err := kong.New(&line,
		kong.Name("slipway"),
		kong.Description("Installs OpenShift on bare metal."),
		kong.Writers(p.stdout, p.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p),
	)
	if err != nil {
		return fmt.Errorf("read command line: %w", err)
	}
	selected, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (see slipway --help)", err)
	}
	p.logger = line.Log.logger(p.stderr)
	slog.SetDefault(p.logger) // for libraries that use the log package
	return selected.Run()
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
