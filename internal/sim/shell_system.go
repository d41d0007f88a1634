package sim

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"slipway/internal/cluster/steps"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/unitfiles"
)

// systemctl starts the bootstrap services, and changes unit files as the real one does; other units of the live image obey.
func (s shell) systemctl(_ context.Context, c hostexec.Cmd, out *reply) int {
	if len(c.Args) == 0 {
		return 0
	}
	state, _ := s.memory.get()
	switch c.Args[0] {
	case "enable", "disable", "mask", "unmask":
		said, code := unitfiles.Change(s.options.root(), c.Args[0], c.Args[1:])
		if code != 0 {
			return out.complain(code, "%s", said)
		}
	case "start":
		if said, code := unitfiles.Startable(s.options.root(), c.Args[1:], bootstrapUnits); code != 0 {
			return out.complain(code, "%s", said)
		}
		return s.startUnits(c.Args[1:], out)
	case "is-active":
		active := state.unitState(last(c.Args))
		out.printf("%s\n", active)
		if active != "active" {
			return 3
		}
	case "show":
		for n, unit := range c.Args[2:] {
			if n > 0 {
				out.printf("\n")
			}
			active, result := state.unitState(unit), "success"
			if unit == unitImagePull || unit == unitImageOverlay {
				active, result = s.nodeImageState(unit)
			}
			out.printf("Result=%s\nId=%s\nActiveState=%s\n", result, unit, active)
		}
	case "reboot":
		return s.shutdown(context.Background(), hostexec.Cmd{Name: "systemctl", Args: c.Args}, out)
	case "--no-pager":
		out.printf("  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n")
	}
	return 0
}

func (s shell) startUnits(units []string, out *reply) int {
	if slices.Contains(units, unitImageOverlay) {
		if err := s.memory.update(func(st *State) { st.NodeImageAt = s.options.Now() }); err != nil {
			return out.complain(1, "%s\n", err)
		}
		return 0
	}
	if !slices.Contains(units, unitBootkube) {
		return 0
	}
	if s.fails(string(steps.BootstrapStart)) {
		return out.complain(1, "Job for %s failed because the control process exited with error code.\n", unitBootkube)
	}
	state, _ := s.memory.get()
	if !state.BootkubeAt.IsZero() {
		if slices.Contains(units, unitProgress) && !state.ProgressDone.IsZero() {
			if err := s.memory.update(func(st *State) { st.ProgressAgain = true }); err != nil {
				return out.complain(1, "%s\n", err)
			}
		}
		return 0
	}
	s.note(Entry{Event: EventServices})
	if err := s.memory.update(func(st *State) { st.BootkubeAt = s.options.Now() }); err != nil {
		return out.complain(1, "%s\n", err)
	}
	return 0
}

func (s shell) journalctl(_ context.Context, c hostexec.Cmd, out *reply) int {
	unit := option(c.Args, "--unit")
	if unit == unitImagePull && s.smallForNodeImage() {
		out.printf("Pulling quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0000...\n" +
			"error: Importing: Unencapsulating base: Layer sha256:0000: Importing objects: Writing content object: No space left on device\n")
		return 0
	}
	out.printf("2026-01-01T00:00:00+0000 %s systemd[1]: Started %s.\n", s.options.Spec.Hostname, unit)
	return 0
}

func (s shell) hostnamectl(_ context.Context, c hostexec.Cmd, out *reply) int {
	if len(c.Args) != 2 || c.Args[0] != "set-hostname" {
		return 0
	}
	for _, file := range []string{"/proc/sys/kernel/hostname", "/etc/hostname"} {
		if err := os.WriteFile(s.options.root().Path(file), []byte(c.Args[1]+"\n"), 0o644); err != nil {
			return out.complain(1, "Could not set static hostname: %s\n", err)
		}
	}
	return 0
}

// sshKeygen makes files that look like a key pair and open nothing.
func (s shell) sshKeygen(_ context.Context, c hostexec.Cmd, out *reply) int {
	file := s.options.root().Path(option(c.Args, "-f"))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return out.complain(1, "%s\n", err)
	}
	public := "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI" + strings.Repeat("A", 43) + " root@" + s.options.Spec.Hostname + "\n"
	for name, content := range map[string]string{file: "simulated private key\n", file + ".pub": public} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return out.complain(1, "%s\n", err)
		}
	}
	return 0
}

func (s shell) detectVirt(_ context.Context, _ hostexec.Cmd, out *reply) int {
	out.printf("none\n")
	return 1
}

func (s shell) lscpu(_ context.Context, _ hostexec.Cmd, out *reply) int {
	out.printf("{\"lscpu\":[{\"field\":\"Architecture:\",\"data\":\"x86_64\"},{\"field\":\"CPU(s):\",\"data\":\"%d\"},"+
		"{\"field\":\"Model name:\",\"data\":%q}]}\n", s.options.Spec.CPUs, s.options.Spec.CPUModel)
	return 0
}

func (s shell) efibootmgr(_ context.Context, _ hostexec.Cmd, out *reply) int {
	out.printf("BootCurrent: 0001\nTimeout: 3 seconds\nBootOrder: 0002,0001\nBoot0001* CD/DVD Drive\nBoot0002* Red Hat Enterprise Linux\n")
	return 0
}
