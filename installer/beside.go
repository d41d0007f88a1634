package installer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"slipway/internal/wire"
)

const (
	// stateRoot is where the image goes beside the system that runs (docs/reference/installer.md, "Beside a
	// running system").
	stateRoot       = "install"
	stateRoots      = "/ostree/deploy"
	nodeImageRef    = "coreos/node-image"
	registryAuth    = "/root/.docker/config.json"
	connectionFiles = "/etc/NetworkManager/system-connections"
	firstBoot       = "/boot/ignition.firstboot"
)

// writeBeside installs an image beside the system that the host was started with from its disk, for hosts that
// cannot boot a live image. Completed steps are not repeated. The mark for Ignition is written last, when
// everything else is on the disk, so that an incomplete installation starts the old system, after a power cut
// too.
func (i *Installer) writeBeside(ctx context.Context, req *wire.InstallCmdRequest, args []string) error {
	kargs, network, err := besideArgs(args)
	if err != nil {
		return err
	}
	config, err := os.ReadFile(i.Root.Path(ignitionPath(req)))
	if err != nil {
		return fmt.Errorf("read the Ignition of the host: %w", err)
	}
	for _, argv := range i.besideCommands(req.CoreosImage, kargs) {
		if err := i.runBeside(ctx, argv, proxyEnvironment(req.Proxy)); err != nil {
			return err
		}
	}
	if network {
		if err := i.copyConnections("/boot/coreos-firstboot-network"); err != nil {
			return fmt.Errorf("copy the network of the host: %w", err)
		}
	}
	if err := i.privateDir("/boot/ignition"); err != nil {
		return err
	}
	if err := i.writeFile("/boot/ignition/config.ign", config, 0o600); err != nil {
		return err
	}
	toDisk := []string{"sync", "--file-system", "/boot"}
	if err := i.command(ctx, toDisk...); err != nil {
		return err
	}
	if err := i.writeFile(firstBoot, nil, defaultFileMode); err != nil {
		return err
	}
	return i.command(ctx, toDisk...)
}

// imageUnit runs one of the commands that write into the system's OSTree repository.
const imageUnit = "slipway-image.service"

// labelling are programs whose files get the labels of another system. SELinux permits that to the domain install_t
// only, which systemd enters when it starts one of them itself, and no process of the agent can (openshift/installer,
// node-image-pull.service).
var labelling = []string{"ostree", "rpm-ostree"}

// runBeside runs a command, by systemd where it labels files.
func (i *Installer) runBeside(ctx context.Context, argv, env []string) error {
	if !slices.Contains(labelling, argv[0]) {
		return i.command(ctx, argv...)
	}
	// An agent that ended leaves it running, and two of them would wait for each other's locks.
	if err := i.command(ctx, "systemctl", "stop", imageUnit); err != nil {
		i.Log.Debug("no command of an earlier agent stopped", "error", err)
	}
	run := []string{"systemd-run", "--quiet", "--wait", "--pipe", "--collect", "--unit=" + imageUnit}
	for _, variable := range env {
		run = append(run, "--setenv="+variable)
	}
	err := i.command(ctx, append(append(run, "--"), argv...)...)
	if ctx.Err() != nil {
		_ = i.command(context.WithoutCancel(ctx), "systemctl", "stop", "--no-block", imageUnit) // it would go its own way
	}
	return err
}

func (i *Installer) besideCommands(image string, kargs []string) [][]string {
	commands := [][]string{{"mount", "/sysroot", "-o", "remount,rw"}, {"mount", "/boot", "-o", "remount,rw"}}
	if i.exists("/ostree/repo/refs/heads/" + nodeImageRef) {
		// It keeps gigabytes that the new image needs. Units of the live system look for the
		// file, which comes first: without the ref no program would make it again.
		commands = append(commands, []string{"touch", "/ostree/repo/tmp/node-image"},
			[]string{"ostree", "refs", "--repo", "/ostree/repo", "--delete", nodeImageRef})
	}
	if !i.exists(path.Join(stateRoots, stateRoot)) {
		commands = append(commands, []string{"ostree", "admin", "stateroot-init", stateRoot})
	}
	finalize := []string{"ostree", "admin", "finalize-staged"}
	commands = append(commands, []string{
		"ostree", "container", "image", "deploy", "--stateroot", stateRoot, "--sysroot", "/", "--authfile", registryAuth,
		"--karg", "$ignition_firstboot", "--karg", "ignition.platform.id=metal", "--image", image,
	}, finalize)
	if len(kargs) > 0 {
		commands = append(commands, append([]string{"rpm-ostree", "kargs", "--os", stateRoot}, kargs...), finalize)
	}
	return commands
}

// besideArgs translates arguments of coreos-installer to arguments of rpm-ostree kargs. Arguments that only
// make sense for a disk that is written as a whole are refused: a user who wants partitions saved must not
// believe they are.
func besideArgs(args []string) (kargs []string, network bool, err error) {
	change := map[string]string{"--append-karg": "--append", "--delete-karg": "--delete-if-present"}
	for n := 0; n < len(args); n++ {
		name, value, joined := strings.Cut(args[n], "=")
		switch {
		case name == "-n" || name == "--copy-network":
			network = true
		case change[name] == "":
			return nil, false, fmt.Errorf(
				"require arguments that a running system can take (--append-karg, --delete-karg, --copy-network), found %q",
				args[n],
			)
		case joined:
			kargs = append(kargs, change[name], value)
		case n+1 == len(args):
			return nil, false, fmt.Errorf("%s requires a value", name)
		default:
			n++
			kargs = append(kargs, change[name], args[n])
		}
	}
	return kargs, network, nil
}

// copyConnections copies NetworkManager's keyfiles; they may hold passwords.
func (i *Installer) copyConnections(to string) error {
	if err := i.privateDir(to); err != nil {
		return err
	}
	entries, err := os.ReadDir(i.Root.Path(connectionFiles))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type()&fs.ModeType != 0 {
			continue
		}
		content, err := os.ReadFile(i.Root.Path(path.Join(connectionFiles, entry.Name())))
		if err != nil {
			return err
		}
		if err := i.writeFile(path.Join(to, entry.Name()), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
