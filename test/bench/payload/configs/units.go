package configs

import (
	"fmt"
	"strings"

	"slipway/test/bench/payload/plan"
)

// Unit is a service of the bench.
type Unit struct {
	Name, About string
	// Command is a program and its arguments.
	Command string
	// Once: the program ends, and the unit stays active.
	Once bool
	// Ends: the program ends when its work is done.
	Ends bool
	// Waits names a file that the program waits for; the unit counts as started before. One of plan.Fetched: whoever
	// starts the unit does not wait for the programs to be fetched.
	Waits string
	// Wants are units started with it, Requires such that it is started after.
	Wants, Requires []string
	// Needs names a file without which the program fails.
	Needs string
	// Console: the machine's console shows what the program says.
	Console bool
	// Leaves: what the program started stays when it ends.
	Leaves bool
	// Unless names a file whose existence keeps the unit from starting, If one whose absence does.
	Unless, If string
}

const fetchUnit = "bench-payload"

func (u Unit) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=Bench: %s\nStartLimitIntervalSec=0\n", u.About)
	wants, after := u.Wants, "network.target"
	if u.Name != fetchUnit {
		wants = append([]string{fetchUnit}, wants...)
		if u.Waits != plan.Fetched {
			after += " " + fetchUnit + ".service"
		}
	}
	if len(wants) > 0 {
		fmt.Fprintf(&b, "Wants=%s.service\n", strings.Join(wants, ".service "))
	}
	for _, name := range u.Requires {
		fmt.Fprintf(&b, "Requires=%s.service\n", name)
		after += " " + name + ".service"
	}
	fmt.Fprintf(&b, "After=%s\n", after)
	if u.Unless != "" {
		fmt.Fprintf(&b, "ConditionPathExists=!%s\n", u.Unless)
	}
	if u.If != "" {
		fmt.Fprintf(&b, "ConditionPathExists=%s\n", u.If)
	}
	b.WriteString("\n[Service]\n")
	kind, restart := "simple", "always"
	if u.Once {
		kind = "oneshot\nRemainAfterExit=yes"
	}
	if u.Once || u.Ends {
		restart = "on-failure"
	}
	kill := "mixed"
	if u.Leaves {
		kill = "process"
	}
	command := u.Command
	if u.Waits != "" {
		command = waitProgram + " " + u.Waits + " " + command
	}
	if u.Needs != "" {
		fmt.Fprintf(&b, "ExecStartPre=/usr/bin/test -e %s\n", u.Needs)
	}
	// Emulated machines are slow: nothing may run into a time limit of systemd.
	fmt.Fprintf(
		&b,
		"Type=%s\nExecStart=%s\nRestart=%s\nRestartSec=5\nTimeoutStartSec=infinity\nTimeoutStopSec=20\nOOMScoreAdjust=-900\nKillMode=%s\n",
		kind,
		command,
		restart,
		kill,
	)
	// Collecting garbage less often costs memory, of which emulated machines have more
	// than processors.
	b.WriteString("Environment=GOGC=400\n")
	// Each wake-up costs an emulated machine twenty times what it costs a real one, and programs in Go that do nothing wake
	// ten to a hundred times a second: timers that end within the same moment wake them once.
	b.WriteString("TimerSlackNSec=50ms\n")
	if u.Console {
		b.WriteString("StandardOutput=journal+console\nStandardError=journal+console\n")
	}
	b.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	return b.String()
}

// node returns a command of the program on the hosts.
func node(command, role string) string {
	return plan.Programs + "/bench-node " + command + " --role " + role
}

func fetch() Unit {
	return Unit{Name: fetchUnit, Console: true, About: "programs of the hosts", Command: fetchProgram, Once: true}
}

// controlPlane lists the units of the control plane, on the bootstrap host as on masters.
func controlPlane(c *plan.Cluster, role string) []Unit {
	units := []Unit{
		{Name: "etcd", Console: true, About: "member of etcd", Command: node("etcd", role)},
		{Name: "kube-apiserver", About: "API server", Command: node("kube-apiserver", role)},
		{Name: "kube-controller-manager", About: "controller manager", Command: node("kube-controller-manager", role)},
		{Name: "machine-config-server", About: "configs of the roles", Command: node("machine-config-server", role)},
	}
	if len(c.APIVIPs) > 0 {
		units = append(units, Unit{Name: "bench-keepalived", About: "floating addresses", Command: node("keepalived", role)})
	}
	return units
}

// stops returns the mark of bootkube after which a unit of the temporary control plane does not start again: its API and
// its machine config server go when masters carry the cluster, long before bootkube is done. A single node's machine
// config server is asked until then.
func stops(c *plan.Cluster, unit string) string {
	switch {
	case unit == "etcd" || unit == "bench-keepalived" || c.InPlace && unit == "machine-config-server":
		return plan.Done
	}
	return plan.ControlPlaneDone
}

// bootstrapUnits bring up the temporary control plane. They stay down once it has been
// handed over, whoever starts bootkube again.
func bootstrapUnits(c *plan.Cluster) []Unit {
	plane := controlPlane(c, plan.Bootstrap)
	names := make([]string, len(plane))
	for i := range plane {
		plane[i].Unless = stops(c, plane[i].Name)
		names[i] = plane[i].Name
	}
	return append(
		append(append([]Unit{fetch()}, nodeImage()...), plane...),
		Unit{
			Name:    "bootkube",
			Needs:   plan.NodeImage,
			Console: true,
			About:   "objects of the cluster, and the handover",
			Command: node("bootkube", plan.Bootstrap),
			Ends:    true,
			Waits:   plan.Fetched,
			Wants:   names,
		},
		Unit{
			Name:    "approve-csr",
			Console: true,
			About:   "certificates of masters that join",
			Command: node("approve-csr", plan.Bootstrap),
			Ends:    true,
			Waits:   plan.Fetched,
		},
		Unit{
			Name:    "progress",
			Console: true,
			About:   "waits for etcd to leave this host",
			Command: node("progress", plan.Bootstrap),
			Ends:    true,
			Waits:   plan.Fetched,
		},
	)
}

// nodeImage lists the units that lay the release's operating system over the live one (openshift/installer,
// data/data/bootstrap/systemd/rhcos/units/node-image-*): a live image has no oc before, without which bootkube fails. The
// last one is of a first boot: on a live host, where no installer starts it, it ends what runs there.
func nodeImage() []Unit {
	return []Unit{
		{
			Name: "node-image-pull", Console: true, About: "operating system of the release", Waits: plan.Fetched, Once: true,
			Command: "/usr/bin/true",
		},
		{
			Name: "node-image-overlay", About: "programs of the release", Requires: []string{"node-image-pull"}, Waits: plan.Fetched, Once: true,
			Command: "/usr/bin/install -D /dev/null " + plan.NodeImage,
		},
		{
			Name: "node-image-finish", About: "first boot", Requires: []string{"node-image-overlay"}, Once: true,
			Command: "/usr/bin/systemctl stop agent.service",
		},
	}
}

// nodeUnits run on hosts that were installed: on their first boot only what ends it, and everything else on the next.
func nodeUnits(c *plan.Cluster, role string) []Unit {
	units := runningUnits(c, role)
	for i := range units {
		units[i].Unless = plan.FirstBoot
	}
	return append(units, fetch(), Unit{
		Name: "machine-config-daemon-firstboot", Console: true, About: "operating system of the release", Once: true, If: plan.FirstBoot,
		Command: firstBootProgram + " " + plan.FirstBoot,
	})
}

func runningUnits(c *plan.Cluster, role string) []Unit {
	units := []Unit{
		{Name: "bench-cri", Console: true, About: "runs containers as processes", Command: node("cri", role), Leaves: true},
		{Name: "kubelet", About: "the node", Command: node("kubelet", role)},
	}
	if role != plan.Master {
		return units
	}
	plane := controlPlane(c, role)
	for i := range plane {
		if plane[i].Name != "etcd" && plane[i].Name != "bench-keepalived" {
			plane[i].Waits = plan.Voting
		}
	}
	units = append(append(units, plane...),
		Unit{Name: "bench-front", About: "service network and router", Command: node("front", role)},
		Unit{Name: "bench-operators", Console: true, About: "operators of the cluster", Command: node("operators", role), Waits: plan.Voting},
	)
	if c.InPlace {
		units = append(
			units,
			Unit{Name: "approve-csr", Console: true, About: "certificate of this node", Command: node("approve-csr", role), Ends: true},
		)
	}
	return units
}
