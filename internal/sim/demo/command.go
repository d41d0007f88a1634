// Package demo shows a whole installation: the real service as a child process with its
// real Temporal server and PostgreSQL, a registry with a synthetic release, and
// simulated machines that run the real agent, installer and controller. It uses the
// service through its API alone, as any user does.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

// Common holds the flags of every kind of demo.
type Common struct {
	Speed   float64       `default:"60" help:"How much faster than real time passes on the machines; 0: nothing takes time."`
	Keep    bool          `help:"Leave everything running at the end, until Ctrl-C."`
	DataDir string        `type:"path" help:"Folder of the service and the machines; a temporary one if not given." placeholder:"FOLDER"`
	Listen  string        `default:"127.0.0.1:0" help:"Address the service listens on; by default a free port."`
	Plain   bool          `help:"Print a line for each change, also on a terminal."`
	Timeout time.Duration `default:"2h" help:"When to give up."`
}

// Command holds the flags of slipway-demo.
type Command struct {
	Common
	Scenario   []string `placeholder:"NAME,..." help:"What to install, instead of --hosts and --sno: ha, sno, compact, arbiter, late-binding, day-2, dual-stack, user-managed-networking, vsphere, nutanix, external, none, okd, fips, arm64, odf, cnv."`
	Hosts      string   `default:"3+2" placeholder:"M+W" help:"Masters and workers of the first cluster; 0 for none. With --no-sno and --keep: a service without machines."`
	SNO        bool     `name:"sno" default:"true" negatable:"" help:"Install a single-node cluster too."`
	Fail       []string `placeholder:"HOST:STEP[:TIMES]" help:"Let the first attempts of a step fail on a host, such as worker-1:image-write."`
	Disconnect []string `placeholder:"HOST[:DURATION[:STEP]]" help:"Pull the cable of a host for a time while it does a step."`
	SlowDisk   []string `placeholder:"HOST" help:"Make the disks of a host slow."`
	BootLive   []string `placeholder:"HOST" help:"Let a host boot the live image once more instead of its disk."`
	AutoRetry  bool     `help:"Start failed hosts again without asking."`
	JSON       bool     `name:"json" help:"Print a JSON document for each change."`
}

// Environment gives the demo the process it runs in, by kong's bindings.
type Environment struct {
	// Service is the program of the service, slipway.
	Service string
	// Self is the program of the demo, which also stands in for openshift-install.
	Self     string
	Terminal *cli.Terminal
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
		Command: k, terminal: env.Terminal, dir: dir, program: env.Service, self: env.Self, board: newBoard(k, env.Terminal),
	}
	return d.finish(ctx, d.run(ctx, plan), remove)
}

// finish says where the logs of a demo that failed are, and removes a temporary folder of another one.
func (d *demo) finish(ctx context.Context, err error, remove func()) error {
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w; the logs of the service and the machines are in %s", err, d.dir)
	}
	remove()
	if err != nil {
		return errors.New("interrupted")
	}
	return nil
}

// folder makes the folder of the demo; remove takes a temporary one away.
func (k *Common) folder(env *Environment) (dir string, remove func(), err error) {
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
	terminal *cli.Terminal
	dir      string
	program  string // of the service
	self     string // of the demo
	board    *board
	log      *slog.Logger
	releases *releases
	service  *service
	// playing are the machines and clusters that run.
	playing sync.WaitGroup
}

func (d *demo) run(ctx context.Context, plan []clusterPlan) error {
	end, err := d.serve(ctx, plan)
	defer end()
	if err != nil {
		return err
	}
	machines, stop := context.WithCancel(ctx)
	defer d.playing.Wait()
	defer stop()
	began := d.terminal.Now()
	results, err := d.installAll(ctx, machines, plan)
	if err != nil {
		return err
	}
	if len(plan) > 0 {
		d.board.summary(results, d.terminal.Now().Sub(began), d.service)
	}
	if d.Keep {
		d.board.say("everything keeps running until Ctrl-C")
		<-ctx.Done()
	}
	return nil
}

// serve starts what installations need: the log of the machines, the registries and the service. The function that it returns ends them.
func (d *demo) serve(ctx context.Context, plan []clusterPlan, variables ...string) (end func(), err error) {
	var started []func()
	end = func() {
		for _, stop := range slices.Backward(started) {
			stop()
		}
	}
	logFile, err := os.OpenFile(filepath.Join(d.dir, "machines.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return end, fmt.Errorf("open the log of the machines: %w", err)
	}
	started = append(started, func() { _ = logFile.Close() })
	d.log = slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if d.releases, err = serveReleases(ctx, d.self, plan); err != nil {
		return end, err
	}
	started = append(started, func() { _ = d.releases.Close() })
	if err := d.showRefusals(ctx, plan); err != nil {
		return end, err
	}
	d.board.say("starting the service, with its data in %s", d.dir)
	if d.service, err = startService(ctx, d, append(environment(plan), variables...)); err != nil {
		return end, err
	}
	started = append(started, d.service.stop)
	d.board.say("service: %s   Temporal UI: %s", d.service.url, d.service.temporal)
	d.board.say("to use it beside the demo: export SLIPWAY_DATA_DIR=%s; slipway context token prints what the UI asks for",
		filepath.Join(d.dir, "service"))
	return end, nil
}

// installAll installs the clusters of the plan at the same time. machines is the context
// of what has to run until the end of the demo.
func (d *demo) installAll(ctx, machines context.Context, plan []clusterPlan) ([]result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.Timeout, fmt.Errorf("not done after %s", d.Timeout))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	ended := d.service.process.Ended()
	context.AfterFunc(ended, func() { fail(context.Cause(ended)) })

	drawing, stopDrawing := context.WithCancel(ctx)
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		d.board.run(drawing)
	}()
	defer func() { stopDrawing(); <-drawn }()

	results := make([]result, len(plan))
	group, ctx := errgroup.WithContext(ctx)
	for n := range plan {
		c := &installation{demo: d, plan: plan[n], machines: machines, reported: map[uuid.UUID]wire.DateTime{}}
		group.Go(func() (err error) {
			results[n], err = c.run(ctx)
			if cause := context.Cause(ctx); err != nil && cause != nil {
				err = cause
			}
			return err
		})
	}
	return results, group.Wait()
}
