package commands

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"slipway/internal/model"
	"slipway/internal/sim"
	"slipway/internal/sim/hardware"
	"slipway/internal/sim/site"
)

// Commands are the commands of slipway-demo that play one part of a simulated cluster.
type Commands struct {
	Machine    Machine    `cmd:"" help:"Play one machine. SIGUSR1 cuts its power for a moment, SIGUSR2 too and boots the live image then."`
	Cluster    Cluster    `cmd:"" help:"Play the API and the operators of the new cluster."`
	Controller Controller `cmd:"" help:"Run the real controller once a master of the simulated cluster is ready."`
	Installer  Installer  `cmd:"" hidden:"" help:"Stand in for openshift-install." passthrough:""`
}

// place are the flags all parts share.
type place struct {
	Root  string  `required:"" type:"path" help:"Folder of this part."`
	Site  string  `required:"" type:"path" help:"Folder all parts of a cluster share."`
	Speed float64 `default:"60" help:"How much faster than real time passes; 0: nothing takes time."`
}

// Machine plays one machine.
type Machine struct {
	place
	Ignition   string           `required:"" type:"existingfile" help:"Config of its discovery image."`
	AgentSteps model.AgentSteps `name:"steps" enum:"fine,install" default:"fine" help:"Steps to announce: fine or install."`
	Name       string           `required:"" help:"Host name."`
	Shape      string           `enum:"master,worker,single-node" default:"master" help:"Size of the machine: master, worker or single-node."`
	Address    netip.Prefix     `required:"" help:"Address with the length of its network: 192.168.126.10/24."`
	Gateway    netip.Addr       `help:"Next hop of the default route; by default the first address of the network."`
	Others     bool             `name:"others-approve" help:"Let certificate requests wait when it joins an existing cluster, instead of approving them."`
	Faults
}

// readDiscovery reads the config of a discovery image.
func readDiscovery(path string) (sim.Discovery, error) {
	config, err := os.ReadFile(path)
	if err != nil {
		return sim.Discovery{}, fmt.Errorf("read --ignition: %w", err)
	}
	return sim.ReadDiscovery(config)
}

// Faults are the flags for what goes wrong with a machine.
type Faults struct {
	Fail       []string `placeholder:"STEP[:TIMES]" help:"Let the first attempts of a step fail."`
	Disconnect string   `placeholder:"DURATION[:STEP]" help:"Pull the cable for a time when a step is received, image-write by default."`
	SlowDisk   bool     `help:"Make the disks slow."`
	BootLive   int      `help:"Boot the live image that many times although the disk is installed."`
	Loss       int      `help:"Part of the packets to the machine that is lost, in percent."`
	Duplicate  bool     `name:"duplicate-ip" help:"Let another machine answer for the same address."`
}

var shapes = map[string]hardware.Shape{
	"master": hardware.Master, "worker": hardware.Worker, "single-node": hardware.SingleNode,
}

func (f Faults) parse(host string) (sim.Faults, error) {
	faults := sim.Faults{Fail: map[string]int{}, SlowDisk: f.SlowDisk, BootLive: f.BootLive, Loss: f.Loss, DuplicateIP: f.Duplicate}
	for _, text := range f.Fail {
		_, step, times, err := sim.ParseFail(host + ":" + text)
		if err != nil {
			return faults, fmt.Errorf("read --fail: %w", err)
		}
		faults.Fail[step] = times
	}
	if f.Disconnect != "" {
		var err error
		if _, faults.Cut, faults.CutAt, err = sim.ParseCut(host + ":" + f.Disconnect); err != nil {
			return faults, fmt.Errorf("read --disconnect: %w", err)
		}
	}
	return faults, nil
}

func (k *Machine) options() (sim.MachineOptions, error) {
	s, err := site.Open(k.Site)
	if err != nil {
		return sim.MachineOptions{}, err
	}
	image, err := readDiscovery(k.Ignition)
	if err != nil {
		return sim.MachineOptions{}, err
	}
	faults, err := k.parse(k.Name)
	if err != nil {
		return sim.MachineOptions{}, err
	}
	if !k.Gateway.IsValid() {
		k.Gateway = k.Address.Masked().Addr().Next()
	}
	return sim.MachineOptions{
		Spec: hardware.New(k.Name, shapes[k.Shape], k.Address, k.Gateway), Root: k.Root, Site: s,
		ServiceURL: image.ServiceURL, InfraEnvID: image.InfraEnvID, Token: image.Token, AgentVersion: image.AgentVersion,
		Authority: image.Authority, AuthorityPath: image.AuthorityPath,
		AgentSteps: k.AgentSteps, OthersApprove: k.Others, Speed: k.Speed, Faults: faults, Log: slog.Default(),
	}, nil
}

// Run plays the machine until ctx ends.
func (k *Machine) Run(ctx context.Context) error {
	options, err := k.options()
	if err != nil {
		return err
	}
	machine, err := sim.NewMachine(options)
	if err != nil {
		return err
	}
	buttons := make(chan os.Signal, 1)
	signal.Notify(buttons, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(buttons)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case pressed := <-buttons:
				from := map[os.Signal]sim.BootFrom{syscall.SIGUSR2: sim.FromLive}[pressed]
				if err := machine.PowerCycle(from); err != nil {
					options.Log.Error("power not cut", "error", err)
				}
			}
		}
	}()
	return machine.Run(ctx)
}
