package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"slipway/internal/cli"
)

// Command is "slipway demo".
type Command struct {
	Hosts      string        `default:"3+2" placeholder:"M+W" help:"Masters and workers of the first cluster; 0 for none."`
	SNO        bool          `name:"sno" default:"true" negatable:"" help:"Install a single-node cluster too."`
	Speed      float64       `default:"60" help:"How much faster than real time passes on the machines; 0: nothing takes time."`
	Fail       []string      `placeholder:"HOST:STEP[:TIMES]" help:"Let the first attempts of a step fail on a host, such as worker-1:image-write."`
	Disconnect []string      `placeholder:"HOST[:DURATION[:STEP]]" help:"Pull the cable of a host for a time while it does a step."`
	SlowDisk   []string      `placeholder:"HOST" help:"Make the disks of a host slow."`
	BootLive   []string      `placeholder:"HOST" help:"Let a host boot the live image once more instead of its disk."`
	AutoRetry  bool          `help:"Start failed hosts again without asking."`
	Keep       bool          `help:"Leave everything running at the end, until Ctrl-C."`
	DataDir    string        `type:"path" help:"Folder of the service and the machines; a temporary one if not given." placeholder:"FOLDER"`
	Listen     string        `default:"127.0.0.1:0" help:"Address the service listens on; by default a free port."`
	Plain      bool          `help:"Print a line for each change, also on a terminal."`
	JSON       bool          `name:"json" help:"Print a JSON document for each change."`
	Timeout    time.Duration `default:"2h" help:"When to give up."`
}

// Environment is what the demo gets of the process it runs in, by kong's bindings.
type Environment struct {
	// Executable is the program that is started as the service and as the stand-in for
	// openshift-install.
	Executable string
	Terminal   *cli.Terminal
	// TempDir is where a temporary folder is made.
	TempDir string
}

// Run shows the installations; nil means that all clusters are installed.
func (k *Command) Run(ctx context.Context, env *Environment) error {
	plan, err := k.plan()
	if err != nil {
		return err
	}
	dir, remove, err := k.folder(env)
	if err != nil {
		return err
	}
	d := &demo{
		Command: k, terminal: env.Terminal, dir: dir, executable: env.Executable, board: newBoard(k, env.Terminal), began: env.Terminal.Now(),
	}
	err = d.run(ctx, plan)
	if ctx.Err() != nil {
		remove()
		return errors.New("interrupted")
	}
	if err != nil {
		return fmt.Errorf("%w; logs and machines are in %s", err, dir)
	}
	remove()
	return nil
}

// folder makes the folder of the demo; remove takes a temporary one away.
func (k *Command) folder(env *Environment) (dir string, remove func(), err error) {
	if k.DataDir != "" {
		return k.DataDir, func() {}, os.MkdirAll(k.DataDir, 0o711)
	}
	dir, err = os.MkdirTemp(env.TempDir, "slipway-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	// PostgreSQL runs as another user when this is root, and must get through.
	return dir, func() { _ = os.RemoveAll(dir) }, os.Chmod(dir, 0o711)
}

// demo is one run.
type demo struct {
	*Command
	terminal   *cli.Terminal
	dir        string
	executable string
	board      *board
	began      time.Time
	service    *service
	releases   *releases
	log        *slog.Logger
}

func (d *demo) run(ctx context.Context, plan []clusterPlan) error {
	logFile, err := os.OpenFile(filepath.Join(d.dir, "machines.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of the machines: %w", err)
	}
	defer logFile.Close()
	d.log = slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: slog.LevelDebug}))

	if d.releases, err = serveReleases(ctx, d.executable, d.log); err != nil {
		return err
	}
	defer d.releases.Close()
	d.board.say("starting the service (data in %s)", d.dir)
	if d.service, err = startService(ctx, d); err != nil {
		return err
	}
	defer d.service.stop()
	d.board.say("the service is ready: API %s, Temporal UI %s", d.service.url, d.service.temporal)

	machines, stopMachines := context.WithCancel(ctx)
	defer stopMachines()
	err = d.installAll(machines, ctx, plan)
	if err == nil || ctx.Err() == nil {
		d.finish(ctx, err)
	}
	return err
}

// installAll installs the clusters of the plan at the same time; machines is the context
// of what has to go on until the end.
func (d *demo) installAll(machines, ctx context.Context, plan []clusterPlan) error {
	limited, cancel := context.WithTimeoutCause(ctx, d.Timeout, fmt.Errorf("not done after %s", d.Timeout))
	defer cancel()
	drawing, stopDrawing := context.WithCancel(ctx)
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		d.board.run(drawing)
	}()
	defer func() { stopDrawing(); <-drawn }()

	group, limited := errgroup.WithContext(limited)
	for n := range plan {
		c := d.newInstallation(plan[n])
		group.Go(func() error { return d.guard(limited, c.run(machines, limited)) })
		group.Go(func() error { return d.service.died(limited) })
	}
	err := group.Wait()
	if errors.Is(err, errAllDone) {
		return nil
	}
	return err
}
