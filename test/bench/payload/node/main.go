// Command bench-node runs what a host of a bench cluster consists of; each of its
// commands is a unit of systemd (package configs).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// commands by their names.
var commands = map[string]func(context.Context, *app) error{
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"keepalived":              runKeepalived,
	"cri":                     runRuntime,
	"kubelet":                 runKubelet,
	"machine-config-server":   serveConfigs,
	"bootkube":                runBootkube,
	"approve-csr":             approve,
	"progress":                runProgress,
	"front":                   runFront,
	"operators":               runOperators,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(ctx, log, os.Args[1:]); err != nil && ctx.Err() == nil {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("require one of the commands %s", strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	var a app
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	role := flags.String("role", plan.Master, "bootstrap, master or worker")
	file := flags.String("plan", plan.File, "file that describes the cluster")
	name := flags.String("name", "", "name of the host; its own if empty")
	folder := flags.String("programs", plan.Programs, "folder of programs")
	keys := flags.String("keys", plan.Keys, "folder of the cluster's keys")
	own := flags.String("own-keys", plan.OwnKeys, "folder of the host's keys")
	state := flags.String("state", "/var/lib/bench", "folder of what the host keeps")
	flags.StringVar(&a.openShift, "openshift", plan.OpenShift, "folder of the bootstrap host's files")
	flags.StringVar(&a.definitions, "definitions", plan.Definitions, "folder of definitions of kinds")
	flags.StringVar(&a.runtime, "runtime-config", plan.RuntimeFile, "file of the container runtime")
	flags.StringVar(&a.snapshot, "snapshot", plan.Snapshot, "snapshot of etcd to begin with")
	flags.StringVar(&a.logs, "logs", "/var/log/containers", "folder of the logs of containers")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	a.log = log
	a.host = &programs.Host{
		Role: *role, Name: *name, Programs: *folder, Keys: pki.Keys(*keys), Own: pki.Keys(*own), State: *state, Now: time.Now,
	}
	if err := a.find(ctx, *file); err != nil {
		return err
	}
	return commands[args[0]](ctx, &a)
}

// app is a command that runs.
type app struct {
	host                                            *programs.Host
	openShift, definitions, runtime, snapshot, logs string
	log                                             *slog.Logger
}

// find completes the host. Its address may take a while to come.
func (a *app) find(ctx context.Context, file string) (err error) {
	if a.host.Plan, err = plan.Read(file); err != nil {
		return err
	}
	if a.host.Name == "" {
		if a.host.Name, err = os.Hostname(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(a.host.State, 0o700); err != nil {
		return err
	}
	for {
		local, err := plan.Interfaces()
		if err != nil {
			return err
		}
		found, err := a.host.Plan.NodeAddress(local)
		if err == nil {
			a.host.Address, a.host.Interface = found.Prefix, found.Interface
			return nil
		}
		a.log.Info("waiting for the network", "reason", err)
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (a *app) ctl() *etcd.Ctl {
	return &etcd.Ctl{
		Program:   filepath.Join(a.host.Programs, "etcdctl"),
		Authority: a.host.Keys.Cert(pki.EtcdSigner), Cert: a.host.Own.Cert("etcd"), Key: a.host.Own.Key("etcd"),
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// write writes the files of a command.
func write(c programs.Command) error {
	for path, content := range c.Files {
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// become runs a command in place of this program.
func become(c programs.Command) error {
	if err := write(c); err != nil {
		return err
	}
	if err := syscall.Exec(c.Argv[0], c.Argv, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return nil
}
