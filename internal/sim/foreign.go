package sim

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// The step install of agents of other implementations is written from openshift/assisted-installer-agent
// (src/commands/actions/install_cmd.go) and the flags of openshift/assisted-installer (src/config/config.go): the image is
// pulled, at most three times, and the installer runs in a container that has a name and is not removed when it ends.
const (
	installerContainer = "assisted-installer"
	pullTries          = 3
	pullLimit          = "600"
)

// installation runs in the container.
type installation func(ctx context.Context, req *wire.InstallCmdRequest) error

type installationKey struct{}

// installInContainer runs the step install as an agent of another implementation does.
func (m *Machine) installInContainer(
	ctx context.Context, req *wire.InstallCmdRequest, install func(context.Context, *wire.InstallCmdRequest) error,
) error {
	run := func(ctx context.Context, args ...string) error {
		_, err := shell{m}.Run(ctx, hostexec.Cmd{
			Name: "nsenter", Args: append([]string{"--target", "1", "--cgroup", "--mount", "--ipc", "--net", "--"}, args...),
		})
		return err
	}
	if err := checkExceptions(req.Proxy.NoProxy); err != nil {
		return err
	}
	err := run(ctx, "timeout", pullLimit, "podman", "pull", req.InstallerImage)
	for try := 1; err != nil && ctx.Err() == nil && try < pullTries; try++ {
		err = run(ctx, "timeout", pullLimit, "podman", "pull", req.InstallerImage)
	}
	if err != nil {
		return err
	}
	return run(context.WithValue(ctx, installationKey{}, installation(install)), "sh", "-c", m.installCommand(req))
}

// checkExceptions checks a list as such an agent does: it refuses a step whose list has an entry twice, blanks, or * beside others.
func checkExceptions(list string) error {
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(list, ",") {
		if seen[entry] || strings.ContainsFunc(entry, unicode.IsSpace) || entry == "*" && list != "*" || entry == "" && list != "" {
			return fmt.Errorf("no_proxy: require each entry once, without blanks, and * alone, found %q", list)
		}
		seen[entry] = true
	}
	return nil
}

// installCommand returns the command line for the shell of the host.
func (m *Machine) installCommand(req *wire.InstallCmdRequest) string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	args := []string{
		"podman run --privileged --pid=host --net=host --name=" + installerContainer,
		"-v /dev:/dev:rw -v /opt:/opt:rw -v /var/log:/var/log:rw",
		"-v /run/systemd/journal/socket:/run/systemd/journal/socket -v /etc/pki:/etc/pki -v /tmp:/tmp --env=PULL_SECRET_TOKEN",
		quote(req.InstallerImage),
		"--role", string(req.Role), "--infra-env-id", req.InfraEnvID.String(), "--cluster-id", req.ClusterID.String(),
		"--host-id", req.HostID.String(), "--boot-device", quote(req.BootDevice), "--url", quote(m.options.ServiceURL),
		"--openshift-version", quote(req.OpenshiftVersion), "--mco-image", quote(req.McoImage),
		"--controller-image", quote(req.ControllerImage), "--agent-image", quote(m.options.AgentVersion),
		"--control-plane-count", strconv.Itoa(req.ControlPlaneCount),
	}
	for name, value := range map[string]string{
		"--must-gather-image": req.MustGatherImage, "--installer-args": req.InstallerArgs, "--coreos-image": req.CoreosImage,
		"--http-proxy": req.Proxy.HTTPProxy, "--https-proxy": req.Proxy.HTTPSProxy, "--no-proxy": req.Proxy.NoProxy,
		"--service-ips": strings.Join(req.ServiceIps, ","),
	} {
		if value != "" {
			args = append(args, name, quote(value))
		}
	}
	for _, disk := range req.DisksToFormat {
		args = append(args, "--format-disk", quote(disk))
	}
	for name, on := range map[string]bool{
		"--check-cluster-version": req.CheckCvo, "--skip-installation-disk-cleanup": req.SkipInstallationDiskCleanup,
		"--enable-skip-mco-reboot": req.EnableSkipMcoReboot, "--notify-num-reboots": req.NotifyNumReboots,
	} {
		if on {
			args = append(args, name)
		}
	}
	return strings.Join(args, " ")
}

// podmanRun starts the installer and waits for its end. Podman's own exit code is 125; the container stays, so that its name
// is taken until somebody removes it or the host boots.
func (s shell) podmanRun(ctx context.Context, args []string, out *reply) int {
	image, command, err := runArguments(args)
	if err != nil {
		return out.complain(125, "Error: %s\n", err)
	}
	install, _ := ctx.Value(installationKey{}).(installation)
	if install == nil {
		return out.complain(125, "Error: %s: nothing here knows what runs in it\n", image)
	}
	state, _ := s.memory.get()
	if slices.Contains(state.Containers, installerContainer) {
		return out.complain(125, "Error: creating container storage: the container name %q is already in use by %s. "+
			"You have to remove that container to be able to reuse that name: that name is already in use, or use --replace to "+
			"instruct Podman to do so.\n", installerContainer, imageID(installerContainer))
	}
	err = s.memory.update(func(st *State) { st.Containers = append(slices.Clone(st.Containers), installerContainer) })
	if err != nil {
		return out.complain(125, "Error: %s\n", err)
	}
	req, err := installerFlags(image, command)
	if err != nil {
		return out.complain(2, "%s\n", err)
	}
	if err := install(ctx, req); err != nil {
		return out.complain(1, "%s\n", err)
	}
	return 0
}

// runArguments reads the arguments after `podman run`.
func runArguments(args []string) (image string, command []string, err error) {
	name := ""
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "--privileged", arg == "--pid=host", arg == "--net=host", arg == "--env=PULL_SECRET_TOKEN":
		case strings.HasPrefix(arg, "--name="):
			name = strings.TrimPrefix(arg, "--name=")
		case arg == "-v" && len(args) > 1:
			args = args[1:]
		case strings.HasPrefix(arg, "-"):
			return "", nil, fmt.Errorf("unknown flag: %s", arg)
		default:
			if name != installerContainer {
				return "", nil, fmt.Errorf("require the container %s, found %q", installerContainer, name)
			}
			return arg, args[1:], nil
		}
		args = args[1:]
	}
	return "", nil, fmt.Errorf("requires at least 1 arg(s), only received 0")
}

// installerFlags reads the command line of the installer; a flag that it does not have is an error.
func installerFlags(image string, args []string) (*wire.InstallCmdRequest, error) {
	req := &wire.InstallCmdRequest{InstallerImage: image}
	flags := flag.NewFlagSet("assisted-installer", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	id := func(into *uuid.UUID) func(string) error {
		return func(text string) (err error) {
			*into, err = uuid.Parse(text)
			return err
		}
	}
	flags.StringVar((*string)(&req.Role), "role", "master", "")
	flags.Func("cluster-id", "", id(&req.ClusterID))
	flags.Func("infra-env-id", "", id(&req.InfraEnvID))
	flags.Func("host-id", "", id(&req.HostID))
	flags.Func("format-disk", "", func(disk string) error {
		req.DisksToFormat = append(req.DisksToFormat, disk)
		return nil
	})
	flags.Func("service-ips", "", func(list string) error {
		req.ServiceIps = strings.Split(list, ",")
		return nil
	})
	flags.Func("installer-args", "", func(list string) error {
		req.InstallerArgs = list
		return json.Unmarshal([]byte(list), new([]string))
	})
	flags.IntVar(&req.ControlPlaneCount, "control-plane-count", 0, "")
	for name, into := range map[string]*string{
		"boot-device": &req.BootDevice, "openshift-version": &req.OpenshiftVersion, "mco-image": &req.McoImage,
		"controller-image": &req.ControllerImage, "must-gather-image": &req.MustGatherImage, "coreos-image": &req.CoreosImage,
		"http-proxy": &req.Proxy.HTTPProxy, "https-proxy": &req.Proxy.HTTPSProxy, "no-proxy": &req.Proxy.NoProxy,
		"url": new(string), "agent-image": new(string), "cacert": new(string),
	} {
		flags.StringVar(into, name, "", "")
	}
	for name, into := range map[string]*bool{
		"check-cluster-version": &req.CheckCvo, "skip-installation-disk-cleanup": &req.SkipInstallationDiskCleanup,
		"enable-skip-mco-reboot": &req.EnableSkipMcoReboot, "notify-num-reboots": &req.NotifyNumReboots,
		"insecure": new(bool), "verbose": new(bool),
	} {
		flags.BoolVar(into, name, false, "")
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("require flags only, found %q", flags.Arg(0))
	}
	return req, nil
}
