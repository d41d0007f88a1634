package installer_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

func besideHost(t *testing.T) *host {
	t.Helper()
	h := newHost(t, map[string]hostexectest.Answer{
		"mount": hostexectest.Prints(""), "touch": hostexectest.Prints(""), "sync": hostexectest.Prints(""),
		"systemctl stop slipway-image.service": hostexectest.Fails(5, "Unit slipway-image.service not loaded."),
		"ostree":                               labels(hostexectest.Prints("")), "rpm-ostree": labels(hostexectest.Prints("")),
	})
	// The commands run below systemd only; started by the agent they may not label files (SELinux, install_t).
	const run = "systemd-run --quiet --wait --pipe --collect --unit=slipway-image.service"
	h.On(run, func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		inner := c.Args[slices.Index(c.Args, "--")+1:]
		return h.Run(context.WithValue(ctx, bySystemd{}, true), hostexec.Cmd{Name: inner[0], Args: inner[1:]})
	})
	h.write(t, ignFile, `{"ignition":{"version":"3.2.0"}}`)
	return h
}

// bySystemd marks commands that systemd runs.
type bySystemd struct{}

// labels answers a command that labels files.
func labels(then hostexectest.Answer) hostexectest.Answer {
	return func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		if ctx.Value(bySystemd{}) == nil {
			return hostexectest.Fails(1, "error: fsetxattr(security.selinux): Permission denied")(ctx, c)
		}
		return then(ctx, c)
	}
}

// own lists the commands of a host except the wrappers that only say who runs them.
func own(h *host) []string {
	return slices.DeleteFunc(h.Lines(), func(line string) bool {
		return strings.HasPrefix(line, "systemd-run ") || strings.HasPrefix(line, "systemctl stop ")
	})
}

func TestImageBesideARunningSystem(t *testing.T) {
	t.Parallel()
	h := besideHost(t)
	h.write(t, "/etc/NetworkManager/system-connections/eth0.nmconnection", "[wifi]\npsk=secret\n")
	req := request("master", 3)
	req.CoreosImage = "registry/coreos:1"
	req.InstallerArgs = `["--append-karg","ip=dhcp","--append-karg=a=b","--delete-karg","quiet","--copy-network"]`
	report, err := newInstaller(newService(t), h, nil).WriteImage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "/dev/sda", report.Device)
	require.Equal(t, []string{
		"mount /sysroot -o remount,rw", "mount /boot -o remount,rw",
		"ostree admin stateroot-init install",
		"ostree container image deploy --stateroot install --sysroot / --authfile /root/.docker/config.json" +
			" --karg $ignition_firstboot --karg ignition.platform.id=metal --image registry/coreos:1",
		"ostree admin finalize-staged",
		"rpm-ostree kargs --os install --append ip=dhcp --append a=b --delete-if-present quiet",
		"ostree admin finalize-staged",
		"sync --file-system /boot", "sync --file-system /boot",
	}, own(h))
	require.JSONEq(t, `{"ignition":{"version":"3.2.0"}}`, h.read(t, "/boot/ignition/config.ign"))
	require.FileExists(t, h.root.Path("/boot/ignition.firstboot"))
	for path, mode := range map[string]os.FileMode{
		"/boot/ignition": 0o700, "/boot/ignition/config.ign": 0o600, "/boot/coreos-firstboot-network/eth0.nmconnection": 0o600,
	} {
		info, err := os.Stat(h.root.Path(path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

func TestImageBesideARunningSystemIsDoneAgain(t *testing.T) {
	t.Parallel()
	h := besideHost(t)
	h.write(t, "/ostree/repo/refs/heads/coreos/node-image", "")
	require.NoError(t, os.MkdirAll(h.root.Path("/ostree/deploy/install"), 0o755))
	req := request("master", 3)
	req.CoreosImage = "registry/coreos:1"
	h.On("ostree container image deploy", labels(hostexectest.Fails(1, "no space left")))
	i := newInstaller(newService(t), h, nil)
	_, err := i.WriteImage(t.Context(), req)
	require.ErrorContains(t, err, "no space left")
	require.NoFileExists(t, h.root.Path("/boot/ignition.firstboot"), "the old system starts")
	h.On("ostree container image deploy", labels(hostexectest.Prints("")))
	_, err = i.WriteImage(t.Context(), req)
	require.NoError(t, err)
	require.Zero(t, h.Count("ostree admin stateroot-init"))
	require.Equal(t, 2, h.Count("ostree refs --repo /ostree/repo --delete coreos/node-image"))
}

func TestImageBesideARunningSystemComesThroughTheProxy(t *testing.T) {
	t.Parallel()
	h := besideHost(t)
	req := request("master", 3)
	req.CoreosImage, req.Proxy = "registry/coreos:1", wire.Proxy{HTTPSProxy: "http://proxy:3128", NoProxy: "localhost"}
	_, err := newInstaller(newService(t), h, nil).WriteImage(t.Context(), req)
	require.NoError(t, err)
	for _, c := range h.Commands() {
		if c.Name == "systemd-run" { // it starts programs with the environment of systemd
			require.Subset(t, c.Args, []string{"--setenv=HTTPS_PROXY=http://proxy:3128", "--setenv=NO_PROXY=localhost"}, c.String())
		}
	}
	require.Equal(t, 3, h.Count("systemd-run"))
}

func TestImageBesideARunningSystemIsOnTheDiskBeforeItStarts(t *testing.T) {
	t.Parallel()
	h := besideHost(t)
	var saved []bool
	h.On("sync --file-system /boot", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		require.FileExists(t, h.root.Path("/boot/ignition/config.ign"))
		_, err := os.Stat(h.root.Path("/boot/ignition.firstboot"))
		saved = append(saved, err == nil)
		return hostexec.Result{}, nil
	})
	req := request("master", 3)
	req.CoreosImage = "registry/coreos:1"
	_, err := newInstaller(newService(t), h, nil).WriteImage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, saved, "a power cut must not leave the mark without the Ignition")
}

func TestImageBesideARunningSystemLeavesNoHalfSpaceSaving(t *testing.T) {
	t.Parallel()
	h := besideHost(t)
	h.write(t, "/ostree/repo/refs/heads/coreos/node-image", "")
	h.On("ostree refs", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		return hostexec.Result{}, os.Remove(h.root.Path("/ostree/repo/refs/heads/coreos/node-image"))
	})
	h.On("touch", hostexectest.Fails(1, "interrupted"))
	req := request("master", 3)
	req.CoreosImage = "registry/coreos:1"
	i := newInstaller(newService(t), h, nil)
	_, err := i.WriteImage(t.Context(), req)
	require.ErrorContains(t, err, "interrupted")
	h.On("touch", hostexectest.Prints(""))
	_, err = i.WriteImage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, 2, h.Count("touch /ostree/repo/tmp/node-image"), "what was cut off is done again")
}

func TestImageBesideARunningSystemRefusesArgumentsOfDisks(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`["--save-partlabel","data"]`: `found "--save-partlabel"`,
		`["--append-karg"]`:           "--append-karg requires a value",
	} {
		h := besideHost(t)
		req := request("master", 3)
		req.CoreosImage, req.InstallerArgs = "registry/coreos:1", args
		_, err := newInstaller(newService(t), h, nil).WriteImage(t.Context(), req)
		require.ErrorContains(t, err, want)
		require.Empty(t, h.Lines())
	}
}
