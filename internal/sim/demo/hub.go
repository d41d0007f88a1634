package demo

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/uuid"

	"slipway/internal/sim/hardware"
	"slipway/internal/sim/hub"
	"slipway/internal/sim/process"
	"slipway/internal/wire"
)

// HubCommand holds the flags of slipway-demo hub.
type HubCommand struct {
	Common
	Programs string `required:"" type:"existingdir" placeholder:"FOLDER" help:"Folder with etcd, kube-apiserver, kube-controller-manager and kubectl."`
}

// hubControllers of kube-controller-manager collect what has no owner any more, and delete namespaces.
const hubControllers = "garbage-collector-controller,namespace-controller"

// waitLimit is how long kubectl waits.
const waitLimit = "--timeout=30m"

//go:embed resources/*.yaml
var resources embed.FS

// Run shows the installations; nil means that all of it came out as it should.
func (k *HubCommand) Run(ctx context.Context, env *Environment) error {
	dir, remove, err := k.folder(env)
	if err != nil {
		return err
	}
	command := &Command{Common: k.Common}
	d := &demo{
		Command: command, terminal: env.Terminal, dir: dir, program: env.Service, self: env.Self, board: newBoard(command, env.Terminal),
	}
	limited, cancel := context.WithTimeoutCause(ctx, k.Timeout, fmt.Errorf("not done after %s", k.Timeout))
	defer cancel()
	return d.finish(ctx, (&hubDemo{demo: d, programs: k.Programs}).run(limited), remove)
}

// hubDemo installs clusters that resources of Kubernetes define.
type hubDemo struct {
	*demo
	programs string
	kubectl  *kubectl
	// controllers are slipway kube.
	controllers *process.Process
	machines    context.Context //nolint:containedctx // machines outlive what starts them
	ha, sno     *installation
	resources   string // a folder
}

// hubPlan returns three masters, with a worker that waits in a pool, and a single node.
func hubPlan() []clusterPlan {
	ha, sno := newPlanner("ha", 111), newPlanner("sno", 112)
	ha.controlPlane(3)
	ha.add("worker", hardware.Worker, 1, 120)
	ha.hosts, ha.added = ha.hosts[:3], ha.hosts[3:]
	ha.resolve()
	ha.added[0].othersApprove = true // slipway kube does
	sno.single("sno")
	return []clusterPlan{ha.clusterPlan, sno.clusterPlan}
}

func (h *hubDemo) run(ctx context.Context) error {
	plan := hubPlan()
	// What is deleted is removed at once, to be counted.
	end, err := h.serve(ctx, plan, "DELETED_UNREGISTERED_AFTER=1s", "DELETION_WORKER_INTERVAL=1s", "INFRAENV_DELETION_WORKER_INTERVAL=1s")
	defer end()
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	failWith := func(p *process.Process) { context.AfterFunc(p.Ended(), func() { fail(context.Cause(p.Ended())) }) }
	failWith(h.service.process)
	machines, stop := context.WithCancel(ctx)
	defer h.playing.Wait()
	defer stop()
	h.machines = machines
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		h.board.run(machines)
	}()
	defer func() { stop(); <-drawn }()
	endHub, err := h.open(ctx)
	defer endHub()
	if err != nil {
		return err
	}
	failWith(h.controllers)
	h.ha, h.sno = h.installation(plan[0]), h.installation(plan[1])
	for _, part := range []func(context.Context) error{h.define, h.boot, h.bindLate, h.install, h.addWorker, h.deleteAll, h.applyTwice} {
		if err := part(ctx); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
	}
	h.board.say("all done   API: %s   Temporal UI: %s", h.service.url, h.service.temporal)
	if h.Keep {
		h.board.say("everything keeps running until Ctrl-C; to use the hub: export KUBECONFIG=%s", h.kubectl.kubeconfig)
		<-ctx.Done()
	}
	return nil
}

func (h *hubDemo) installation(plan clusterPlan) *installation {
	return &installation{
		demo: h.demo, plan: plan, machines: h.machines, client: h.service.client, reported: map[uuid.UUID]wire.DateTime{},
	}
}

// open starts the hub with the definitions, and the controllers.
func (h *hubDemo) open(ctx context.Context) (end func(), err error) {
	end = func() {}
	dir := filepath.Join(h.dir, "hub")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return end, fmt.Errorf("make the folder of the hub: %w", err)
	}
	h.board.say("starting etcd, kube-apiserver and kube-controller-manager in %s", dir)
	cluster, err := hub.Start(ctx, hub.Options{Programs: h.programs, Dir: dir, Controllers: hubControllers})
	if err != nil {
		return end, err
	}
	end = cluster.Stop
	h.kubectl = &kubectl{program: filepath.Join(h.programs, "kubectl"), kubeconfig: cluster.Kubeconfig, board: h.board}
	if err := h.applyDefinitions(ctx, dir); err != nil {
		return end, err
	}
	data := filepath.Join(h.dir, "service")
	h.board.say("$ slipway kube --kubeconfig %s --data-dir %s --fetch-networks 127.0.0.0/8", cluster.Kubeconfig, data)
	h.controllers, err = process.Start(
		exec.Command(h.program, "kube", "--kubeconfig", cluster.Kubeconfig, "--data-dir", data, //nolint:gosec // ours
			"--fetch-networks", "127.0.0.0/8"), // the simulated clusters are on this machine
		filepath.Join(h.dir, "kube.log"))
	if err != nil {
		return end, err
	}
	return func() { h.controllers.Stop(stopLimit); cluster.Stop() }, nil
}

func (h *hubDemo) applyDefinitions(ctx context.Context, dir string) error {
	definitions, err := exec.CommandContext(ctx, h.program, "kube", "crds").Output()
	if err != nil {
		return fmt.Errorf("print the definitions: %w", err)
	}
	ofHive, err := hub.Definitions()
	if err != nil {
		return fmt.Errorf("read the definitions of hive: %w", err)
	}
	for name, content := range map[string][]byte{"slipway.yaml": definitions, "hive.yaml": ofHive} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return fmt.Errorf("write the definitions: %w", err)
		}
		if err := h.kubectl.show(ctx, "apply", "--server-side", "-f", file); err != nil {
			return err
		}
	}
	return h.kubectl.show(ctx, "wait", "crds", "--all", "--for=condition=Established", waitLimit)
}
