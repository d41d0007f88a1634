package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// retry is between two tries of what has to wait for others.
const retry = 5 * time.Second

// stopLimit is how long etcd gets to end.
const stopLimit = 60 * time.Second

func runEtcd(ctx context.Context, a *app) error {
	if err := a.host.EtcdCertificate(); err != nil {
		return err
	}
	local := etcd.Local{
		Ctl: a.ctl(), Name: a.host.EtcdName(), Peer: a.host.Endpoint(programs.EtcdPeerPort), Data: a.host.EtcdData(),
		Log: a.log, Sleep: sleep,
	}
	if a.host.Role == plan.Master {
		local.Snapshot = a.snapshot
		if !a.host.Plan.InPlace {
			local.Cluster = programs.URL(a.host.Plan.InternalName(), programs.EtcdClientPort)
		}
	}
	joining, err := local.Prepare(ctx)
	if err != nil {
		return err
	}
	command := a.host.Etcd(joining)
	cmd := exec.CommandContext(ctx, command.Argv[0], command.Argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run etcd: %w", err)
	}
	following, done := context.WithCancel(ctx)
	defer done()
	go func() {
		if local.Follow(following) == nil { // says itself what happens
			_ = os.WriteFile(filepath.Join(a.host.State, filepath.Base(plan.Voting)), nil, 0o600)
		}
	}()
	err = cmd.Wait()
	if err == nil {
		err = errors.New("etcd ended")
	}
	return err
}

// runAPIServer waits for the host's own member of etcd: before it votes, an API server
// would only fail.
func runAPIServer(ctx context.Context, a *app) error {
	command, err := a.host.APIServer()
	if err != nil {
		return err
	}
	member := a.ctl()
	if err := a.until(ctx, func() error { return member.Healthy(ctx, a.host.Endpoint(programs.EtcdClientPort)) }); err != nil {
		return err
	}
	return become(command)
}

func runControllerManager(_ context.Context, a *app) error {
	command, err := a.host.ControllerManager()
	if err != nil {
		return err
	}
	return become(command)
}

func runKeepalived(_ context.Context, a *app) error { return become(a.host.Keepalived()) }

func runRuntime(_ context.Context, a *app) error { return become(a.host.Runtime(a.runtime)) }

func runKubelet(_ context.Context, a *app) error {
	command, err := a.host.Kubelet()
	if err != nil {
		return err
	}
	return become(command)
}

// until tries until there is no error, or ctx ends.
func (a *app) until(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		a.log.Info("waiting", "reason", err)
		if err := sleep(ctx, retry); err != nil {
			return err
		}
	}
}
