// Command slipway-demo installs clusters on simulated machines. It starts the real service,
// slipway up, as a child process and uses its API; further commands run one part of a simulated
// cluster each.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	usercli "slipway/internal/cli"
	"slipway/internal/sim/commands"
	"slipway/internal/sim/demo"
	"slipway/internal/version"
)

// commandLine is the command line: without the name of a command it is the demo.
type commandLine struct {
	Run runCommand `cmd:"" default:"withargs" help:"Install clusters on simulated machines, with the real service."`
	Hub hubCommand `cmd:"" help:"Install clusters that resources of Kubernetes define, on a hub."`
	commands.Commands
}

// program finds the program of the service.
type program struct {
	Service string `type:"path" placeholder:"FILE" help:"Program of the service; by default slipway in the folder of this program."`
}

// hubCommand is the demo on a hub.
type hubCommand struct {
	demo.HubCommand
	program
}

// Run installs the clusters.
func (c *hubCommand) Run(ctx context.Context, t *usercli.Terminal) error {
	env, err := c.environment(t)
	if err != nil {
		return err
	}
	return c.HubCommand.Run(ctx, env)
}

// runCommand is the demo.
type runCommand struct {
	demo.Command
	program
	Version kong.VersionFlag `help:"Print the version."`
}

// Run installs the clusters.
func (c *runCommand) Run(ctx context.Context, t *usercli.Terminal) error {
	env, err := c.environment(t)
	if err != nil {
		return err
	}
	return c.Command.Run(ctx, env)
}

func (p *program) environment(t *usercli.Terminal) (*demo.Environment, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if p.Service == "" {
		p.Service = filepath.Join(filepath.Dir(self), "slipway")
	}
	if _, err := os.Stat(p.Service); err != nil {
		return nil, fmt.Errorf("require the program of the service (--service, make build): %w", err)
	}
	return &demo.Environment{Service: p.Service, Self: self, Terminal: t, TempDir: os.TempDir()}, nil
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	// The first signal starts the shutdown; the second one is no longer caught and kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	if err := execute(ctx, args, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "slipway-demo:", err)
		return usercli.ExitCode(err)
	}
	return 0
}

// help shows the flags of the demo, which needs no command, below the list of commands.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil || ctx.Selected() != nil {
		return err
	}
	demo, err := kong.Trace(ctx.Kong, []string{"run"})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(ctx.Stdout); err != nil {
		return err
	}
	return kong.DefaultHelpPrinter(options, demo)
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	parser, err := kong.New(&commandLine{},
		kong.Name("slipway-demo"),
		kong.Description("Installs clusters on simulated machines, with the real service."),
		kong.Vars{"version": "slipway-demo " + version.Read().String()},
		kong.Writers(stdout, stderr),
		kong.Help(help),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(usercli.NewTerminal(stdout, stderr, time.Now)),
		kong.Bind(&commands.Process{Stdout: stdout, Stderr: stderr, Env: os.Environ(), Now: time.Now}),
	)
	if err != nil {
		return fmt.Errorf("read command line: %w", err)
	}
	selected, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w (see slipway-demo --help)", err)
	}
	return selected.Run()
}
