package sim

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	shellwords "mvdan.cc/sh/v3/shell"

	"slipway/internal/platform/hostexec"
)

// shell is the command runner of a simulated machine. It knows the commands listed in
// the documentation of packages agent, agent/inventory and installer.
type shell struct{ *Machine }

var _ hostexec.Runner = shell{}

// command plays one command: it prints to the reply and returns the exit code.
type command func(s shell, ctx context.Context, c hostexec.Cmd, out *reply) int

// commands of the live image, by the first word.
var commands = map[string]command{
	"bootlist": succeed, "chronyc": shell.chronyc, "coreos-installer": shell.coreosInstaller, "dd": shell.dd,
	"dmesg":   printed("[    0.000000] Linux version 5.14.0-570.el9.x86_64\n"),
	"dmsetup": succeed, "efibootmgr": shell.efibootmgr, "findmnt": shell.findmnt,
	"hostnamectl": shell.hostnamectl, "ip": shell.ip, "journalctl": shell.journalctl,
	"lsblk": shell.lsblk, "lscpu": shell.lscpu, "mdadm": succeed, "mount": succeed, "ping": shell.ping,
	"podman":   shell.podman,
	"pvremove": succeed, "pvs": shell.pvs, "rpm-ostree": succeed, "sync": succeed, "shutdown": shell.shutdown,
	"ssh-keygen": shell.sshKeygen, "systemctl": shell.systemctl,
	"systemd-detect-virt": shell.detectVirt, "vgremove": succeed, "vgs": succeed, "wipefs": shell.wipefs,
}

// keptStderr is how much of stderr an error carries, as with hostexec.Exec.
const keptStderr = 2 << 10

// Run implements hostexec.Runner.
func (s shell) Run(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	c = unwrap(c)
	play, known := commands[path.Base(c.Name)]
	if !known {
		return hostexec.Result{}, fmt.Errorf("%s: %w", c.Name, hostexec.ErrNoCommand)
	}
	if err := ctx.Err(); err != nil {
		return hostexec.Result{}, err
	}
	out := &reply{stream: c.Output}
	code := play(s, ctx, c, out)
	result := hostexec.Result{Stdout: out.stdout.String(), Stderr: out.stderr.String()}
	if err := context.Cause(ctx); err != nil {
		return result, fmt.Errorf("%s: %w", c, err)
	}
	if code != 0 {
		return result, &hostexec.ExitError{Cmd: c.String(), Code: code, Stderr: result.Stderr[max(0, len(result.Stderr)-keptStderr):]}
	}
	return result, nil
}

// unwrap takes away what only changes where and how long a command runs: nsenter, `timeout SECONDS` (whose limit nothing here
// reaches), and `sh -c LINE` where the line is one command.
func unwrap(c hostexec.Cmd) hostexec.Cmd {
	for {
		var inner []string
		switch at := slices.Index(c.Args, "--") + 1; {
		case path.Base(c.Name) == "nsenter" && at > 0:
			inner = c.Args[at:]
		case c.Name == "timeout" && len(c.Args) > 1:
			inner = c.Args[1:]
		case c.Name == "sh" && len(c.Args) == 2 && c.Args[0] == "-c":
			inner, _ = shellwords.Fields(c.Args[1], nil)
		}
		if len(inner) == 0 {
			return c
		}
		c.Name, c.Args = inner[0], inner[1:]
	}
}

// reply holds the output of a command.
type reply struct {
	stdout, stderr strings.Builder
	stream         func([]byte)
}

func (r *reply) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.stdout.WriteString(text)
	r.pass(text)
}

// complain prints to stderr and gives the exit code back.
func (r *reply) complain(code int, format string, args ...any) int {
	text := fmt.Sprintf(format, args...)
	r.stderr.WriteString(text)
	r.pass(text)
	return code
}

func (r *reply) pass(text string) {
	if r.stream != nil {
		r.stream([]byte(text))
	}
}

func succeed(shell, context.Context, hostexec.Cmd, *reply) int { return 0 }

func printed(text string) command {
	return func(_ shell, _ context.Context, _ hostexec.Cmd, out *reply) int {
		out.printf("%s", text)
		return 0
	}
}

// option returns the value after a flag; empty when the flag is not there.
func option(args []string, flag string) string {
	for n, a := range args {
		if a == flag && n+1 < len(args) {
			return args[n+1]
		}
		if value, found := strings.CutPrefix(a, flag+"="); found && strings.HasPrefix(flag, "--") {
			return value
		}
	}
	return ""
}

func last(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[len(args)-1]
}

// spend lets a command take its time, cut short when it is killed.
func (s shell) spend(ctx context.Context, d time.Duration) { _ = s.clock.Wait(ctx, d) }

// fails uses up one of the failures that were asked for a step.
func (m *Machine) fails(step string) bool {
	state, _ := m.memory.get()
	if state.Failed[step] >= m.options.Faults.Fail[step] {
		return false
	}
	if err := m.memory.update(func(st *State) { st.Failed[step]++ }); err != nil {
		m.log.Error("fault not kept", "error", err)
	}
	m.note(Entry{Event: EventCommandFailed, StepType: step, Detail: failing[step]})
	return true
}
