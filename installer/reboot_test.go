package installer_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/testing/realinstall"
	"slipway/internal/testing/tartest"
)

func TestRebootGoesTheWayOfTheHost(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{"shutdown": hostexectest.Prints(""), "systemctl": hostexectest.Prints("")})
	i := newInstaller(newService(t), h, nil)
	require.NoError(t, i.Reboot(t.Context(), request("master", 3)))
	require.NoError(t, i.Reboot(t.Context(), request("bootstrap", 1)))
	h.write(t, "/etc/systemd/system/ironic-agent.service", "")
	require.NoError(t, i.Reboot(t.Context(), request("master", 3)))
	require.Equal(t, []string{"shutdown -r +1", "shutdown -r now", "systemctl stop agent.service"}, h.Lines())
	h.On("systemctl", hostexectest.Fails(1, "no"))
	require.ErrorContains(t, i.Reboot(t.Context(), request("master", 3)), "reboot the host")
}

func TestSendLogsPacksWhatItFinds(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{
		"journalctl --no-pager --output=short-iso --unit=agent.service":    hostexectest.Prints("agent says\n"),
		"journalctl --no-pager --output=short-iso --unit=bootkube.service": hostexectest.Prints("bootkube says\n"),
		"dmesg": hostexectest.Fails(1, "not permitted"),
	})
	h.write(t, "/usr/local/bin/installer-gather.sh", "#!/bin/bash\n")
	h.On("/usr/local/bin/installer-gather.sh", realGather(t, h))
	err := newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{
		ClusterID: clusterID, InfraEnvID: envID, HostID: hostID, Bootstrap: true, Gather: true, MasterIPs: []string{"192.0.2.11"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"requested", "collecting", "completed"}, s.logs)
	files := tartest.FilesGzip(t, s.archive)
	folder := hostID.String() + "/"
	require.Equal(t, "agent says\n", files[folder+"agent.log"])
	require.Equal(t, "bootkube says\n", files[folder+"bootkube.log"])
	require.Contains(t, files[folder+"dmesg.log"], "exit status 1: not permitted")
	require.Contains(t, files[folder+"lsblk.txt"], "no such command")
	require.Equal(t, "bundle", files[folder+"log-bundle-"+clusterID.String()+".tar.gz"])
	require.Equal(t, 1, h.Count("/usr/local/bin/installer-gather.sh --id "+clusterID.String()+" 192.0.2.11"))
}

// Clusters of IPv6, hosts that start from the wrong disk, disks in the network and wrong clocks are explained by these.
func TestLogsSayHowAHostStartsAndReachesItsDisksAndOthers(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{
		"ip -6 route":                       hostexectest.Prints("default via fe80::1 dev eth0\n"),
		"efibootmgr --verbose":              hostexectest.Prints("BootOrder: 0003,0001\n"),
		"multipath -ll":                     hostexectest.Prints("mpatha (36001405) dm-0 LIO-ORG,disk\n"),
		"iscsiadm --mode session --print 1": hostexectest.Prints("Target: iqn.2024-01.example:disk\n"),
		"journalctl --no-pager --output=short-iso --unit=chronyd.service": hostexectest.Prints("System clock wrong by 41 seconds\n"),
	})
	err := newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID})
	require.NoError(t, err)
	files := tartest.FilesGzip(t, s.archive)
	for name, want := range map[string]string{
		"routes-ipv6.txt": "default via fe80::1 dev eth0\n", "boot-order.txt": "BootOrder: 0003,0001\n",
		"multipath.txt": "mpatha (36001405) dm-0 LIO-ORG,disk\n", "iscsi-sessions.txt": "Target: iqn.2024-01.example:disk\n",
		"chronyd.log": "System clock wrong by 41 seconds\n",
	} {
		require.Equal(t, want, files[hostID.String()+"/"+name], name)
	}
}

// realGather writes a bundle to where the script of the real openshift-install writes it, in the environment of a systemd
// service without User=: it has no HOME.
func realGather(t *testing.T, h *host) hostexectest.Answer {
	t.Helper()
	var target string
	for _, c := range realinstall.Cases(t) {
		if c.Name != "baremetal" {
			continue
		}
		script := realinstall.File(t, c.Bootstrap(), "/usr/local/bin/installer-gather.sh")
		for line := range strings.Lines(string(script)) {
			if strings.HasPrefix(line, "TAR_FILE=") {
				target = strings.TrimSpace(line)
			}
		}
	}
	require.NotEmpty(t, target, "the script says where it writes")
	return func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		shell := exec.CommandContext(ctx, "bash", "-c", `GATHER_ID="$2"; `+target+`; printf %s "${TAR_FILE}"`, "bash", c.Args[0], c.Args[1])
		shell.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
		place, err := shell.Output()
		if err != nil {
			return hostexec.Result{}, err
		}
		h.write(t, string(place), "bundle")
		return hostexec.Result{Stdout: "gathered\n"}, nil
	}
}

func TestWhatIsToldHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	auth := base64.StdEncoding.EncodeToString([]byte("robot:pass-of-the-registry"))
	said := "pull failed: token " + token + " auth " + auth + " password pass-of-the-registry identity-of-the-robot"
	s, h := newService(
		t,
	), newHost(
		t,
		map[string]hostexectest.Answer{"dmesg": hostexectest.Prints(said), "coreos-installer": hostexectest.Fails(1, said)},
	)
	working(t, h)
	h.On("coreos-installer", hostexectest.Fails(1, said+strings.Repeat("x", 150)))
	h.write(t, "/root/.docker/config.json",
		`{"auths":{"quay.io":{"auth":"`+auth+`","identitytoken":"identity-of-the-robot"},"m":{"auth":""}}}`)
	s.files["ignition"] = `{"ignition":{"version":"3.1.0"}}`
	i := newInstaller(s, h, nil, func(o *installer.Options) { o.Sleep = func(context.Context, time.Duration) error { return nil } })
	failure := i.Install(t.Context(), request("master", 3))
	require.ErrorContains(t, failure, "pull failed")
	require.NoError(t, i.SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID}))
	stages, _ := s.reports()
	reports := failure.Error() + strings.Join(stages, "\n") + tartest.FilesGzip(t, s.archive)[hostID.String()+"/dmesg.log"]
	require.Contains(t, reports, "pull failed: token [redacted] auth [redacted] password [redacted] [redacted]")
	for _, secret := range []string{token, auth, "pass-of-the-registry", "the-registry", "identity-of-the-robot"} {
		require.NotContains(t, reports, secret)
	}
}

// Logs of a host have secrets of other systems too: they are known by their form.
func TestLogsOfAHostHaveNoSecretsThatTheHostDoesNotKnow(t *testing.T) {
	t.Parallel()
	said := "login\n  password: c4nary77\nread http://user:c4nary77@192.0.2.9: refused\nsha256:c4na stays\n"
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"dmesg": hostexectest.Prints(said)})
	require.NoError(
		t,
		newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID}),
	)
	require.Equal(t, "login\n  password: [redacted]\nread http://user:[redacted]@192.0.2.9: refused\nsha256:c4na stays\n",
		tartest.FilesGzip(t, s.archive)[hostID.String()+"/dmesg.log"])
}

func TestSecretsThatBeginAlikeAreHiddenWhole(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"dmesg": hostexectest.Prints("first-password, first-password-of-two")})
	var auths []string
	for n := range 20 { // maps have no order
		auths = append(auths, fmt.Sprintf(`"r%d":{"password":"first-password"},"s%d":{"password":"first-password-of-two"}`, n, n))
	}
	h.write(t, "/root/.docker/config.json", `{"auths":{`+strings.Join(auths, ",")+`}}`)
	require.NoError(
		t,
		newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID}),
	)
	require.Equal(t, "[redacted], [redacted]", tartest.FilesGzip(t, s.archive)[hostID.String()+"/dmesg.log"])
}

func TestWhatTheGatherScriptSaysHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	s, h := newService(
		t,
	), newHost(
		t,
		map[string]hostexectest.Answer{"/usr/local/bin/installer-gather.sh": hostexectest.Fails(1, "token "+token)},
	)
	h.write(t, "/usr/local/bin/installer-gather.sh", "#!/bin/bash\n")
	err := newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{
		ClusterID: clusterID, InfraEnvID: envID, HostID: hostID, Bootstrap: true, Gather: true,
	})
	require.NoError(t, err)
	require.Contains(t, tartest.FilesGzip(t, s.archive)[hostID.String()+"/installer-gather.log"], "token [redacted]")
}

func TestLogsComeWithoutThatOfACommandThatHangs(t *testing.T) {
	t.Parallel()
	s, h := newService(
		t,
	), newHost(
		t,
		map[string]hostexectest.Answer{"pvdisplay": hostexectest.Hangs, "vgdisplay": hostexectest.Prints("group data\n")},
	)
	i := newInstaller(s, h, nil, func(o *installer.Options) { o.LogLimit = time.Millisecond })
	require.NoError(t, i.PrepareReboot(t.Context(), request("master", 3)))
	files := tartest.FilesGzip(t, s.archive)
	require.Contains(t, files[hostID.String()+"/physical-volumes.txt"], "no end after 1ms")
	require.Equal(t, "group data\n", files[hostID.String()+"/volume-groups.txt"])
}

// Each alone: a report or the upload is refused once. The state that stays is "completed".
func TestLogsOfAHostAreSentAgain(t *testing.T) {
	t.Parallel()
	for refused, want := range map[string][]string{
		"requested": {"collecting", "completed"},
		"upload":    {"requested", "collecting", "completed"},
		"completed": {"requested", "collecting", "completed"},
	} {
		t.Run(refused, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"dmesg": hostexectest.Prints("kernel says\n")})
			s.refused = refused
			err := newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID})
			require.NoError(t, err)
			require.Equal(t, want, s.logs)
			require.Equal(t, "kernel says\n", tartest.FilesGzip(t, s.archive)[hostID.String()+"/dmesg.log"])
		})
	}
}

func TestPrepareRebootGoesOnWithoutLogs(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	s.Close()
	ctx := t.Context()
	require.NoError(t, newInstaller(s, h, nil, func(o *installer.Options) {
		o.FarewellLimit = 1 // nanosecond: the service is gone anyway
	}).PrepareReboot(ctx, request("master", 3)))
}

func TestTheEndOfALongLogBeginsWithAWholeLine(t *testing.T) {
	t.Parallel()
	end := " was not accepted\nthe rest of the log\n"
	end += strings.Repeat("x", 16<<20-len(end)-5) // the cut leaves five bytes of the token
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"dmesg": hostexectest.Prints("the token " + token + end)})
	require.NoError(
		t,
		newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{ClusterID: clusterID, InfraEnvID: envID, HostID: hostID}),
	)
	log := tartest.FilesGzip(t, s.archive)[hostID.String()+"/dmesg.log"]
	require.True(t, strings.HasPrefix(log, "the rest of the log\n"), "half a secret is not known for one: %.40q", log)
}

func TestPrepareRebootGoesOnWhenTheFirmwareHangs(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{"efibootmgr": hostexectest.Hangs})
	h.write(t, "/sys/firmware/efi/fw_platform_size", "64\n")
	var said bytes.Buffer
	i := newInstaller(newService(t), h, nil, func(o *installer.Options) {
		o.FarewellLimit, o.Log = 100*time.Millisecond, slog.New(slog.NewTextHandler(&said, nil))
	})
	require.NoError(t, i.PrepareReboot(t.Context(), request("master", 3)))
	require.Contains(t, said.String(), "boot order not set")
}
