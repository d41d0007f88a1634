package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"slipway/internal/sim"
	"slipway/internal/sim/payload/standin"
	"slipway/internal/sim/site"
)

// Cluster plays the API and the operators of a cluster.
type Cluster struct {
	place
	Name         string `required:"" help:"Name of the cluster."`
	Domain       string `required:"" help:"Domain below which its names are."`
	ControlPlane int    `default:"3" help:"Masters of the cluster."`
	Version      string `required:"" help:"OpenShift version it reports."`
}

// Run plays the cluster until ctx ends.
func (k *Cluster) Run(ctx context.Context) error {
	s, err := site.Open(k.Site)
	if err != nil {
		return err
	}
	if err := s.SetCluster(site.Cluster{Name: k.Name, Domain: k.Domain, ControlPlane: k.ControlPlane, Version: k.Version}); err != nil {
		return err
	}
	cluster, err := sim.NewCluster(sim.ClusterOptions{Root: k.Root, Site: s, Speed: k.Speed, Log: slog.Default()})
	if err != nil {
		return err
	}
	return cluster.Run(ctx)
}

// Controller runs the real controller.
type Controller struct {
	place
	Ignition  string    `required:"" type:"existingfile" help:"Config of the discovery image of its hosts: where the service is, and what it is trusted with."`
	ClusterID uuid.UUID `required:"" name:"cluster-id" help:"The cluster in the service."`
}

// Run runs the controller of each installation until ctx ends.
func (k *Controller) Run(ctx context.Context) error {
	s, err := site.Open(k.Site)
	if err != nil {
		return err
	}
	image, err := readDiscovery(k.Ignition)
	if err != nil {
		return err
	}
	err = sim.RunControllers(ctx, sim.ControllerOptions{
		ServiceURL: image.ServiceURL, ClusterID: k.ClusterID, Authority: image.Authority, Site: s, Speed: k.Speed, Root: k.Root,
		Log: slog.Default(),
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Process gives commands the process they run in, by kong's bindings.
type Process struct {
	Stdout, Stderr io.Writer
	Env            []string // KEY=value
	Now            func() time.Time
}

// Installer stands in for openshift-install.
type Installer struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"Arguments of openshift-install."`
}

// ExitError is the exit code of a program that has said what was wrong.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ExitCode implements kong.ExitCoder.
func (e ExitError) ExitCode() int { return int(e) }

// Run runs the stand-in.
func (k *Installer) Run(p *Process) error {
	code := standin.Main(standin.Call{Args: k.Args, Env: p.Env, Now: p.Now(), Stdout: p.Stdout, Stderr: p.Stderr})
	if code != 0 {
		return ExitError(code)
	}
	return nil
}
