package installer_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

const ignFile = "/opt/install-dir/master-33333333-3333-4333-8333-333333333333.ign"

func TestFetchIgnitionKeepsItForTheImage(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	s.files["ignition"] = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int:22623/config/master"}]}}}`
	report, err := newInstaller(s, h, nil).FetchIgnition(t.Context(), request("bootstrap", 3))
	require.NoError(t, err)
	require.Equal(t, s.files["ignition"], h.read(t, ignFile))
	sum := sha256.Sum256([]byte(s.files["ignition"]))
	require.Equal(t, hex.EncodeToString(sum[:]), report.SHA256)
	require.Equal(t, len(s.files["ignition"]), report.Size)
}

func TestFetchIgnitionOfASingleNodeIsMerged(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	s.files["ignition"] = `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://api-int:22623/config/master"}]}},
		"storage":{"files":[{"path":"/etc/hostname","contents":{"source":"data:,sno"}}]}}`
	h.write(t, "/opt/openshift/master.ign", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/kept"}]}}`)
	_, err := newInstaller(s, h, nil).FetchIgnition(t.Context(), request("bootstrap", 1))
	require.NoError(t, err)
	require.JSONEq(t, `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/kept"},
		{"path":"/etc/hostname","contents":{"source":"data:,sno"}}]}}`, h.read(t, ignFile))
}

func TestFetchIgnitionRefusesWhatCannotBoot(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	i := newInstaller(s, h, nil)
	_, err := i.FetchIgnition(t.Context(), request("master", 3))
	require.ErrorContains(t, err, "fetch the Ignition of the host")
	s.files["ignition"] = "<html>"
	_, err = i.FetchIgnition(t.Context(), request("master", 3))
	require.ErrorContains(t, err, "check the Ignition of the host")
	s.files["ignition"] = `{"ignition":{"version":"3.1.0"}}`
	_, err = i.FetchIgnition(t.Context(), request("bootstrap", 1))
	require.ErrorContains(t, err, "read the Ignition of the bootstrap services")
}

// writesImage prints the progress of coreos-installer.
func writesImage(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	for _, piece := range []string{
		"Installing CoreOS\n> Read disk 1 MiB/2 MiB (5", "0%)\r", "> Read disk 2 MiB/2 MiB (100%)\n", "Install complete.\n",
	} {
		c.Output([]byte(piece))
	}
	return hostexec.Result{}, nil
}

func TestWriteImageWaitsForLinksOfUdev(t *testing.T) {
	t.Parallel()
	const link = "/dev/disk/by-id/wwn-0x1"
	for name, c := range map[string]struct {
		device string
		after  time.Duration // until the link is back
		want   string
		slept  time.Duration
	}{
		"a link that is there":                  {link, 0, "", 0},
		"a link that comes back":                {link, 6 * time.Second, "", 6 * time.Second},
		"a link that does not":                  {link, time.Hour, "not within 20s: look for device " + link, 20 * time.Second},
		"a path that is no device is never one": {"/etc/passwd", 0, "require a device below /dev", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, map[string]hostexectest.Answer{"coreos-installer install": writesImage})
			var slept time.Duration
			appear := func() {
				if slept >= c.after {
					h.write(t, link, "")
				}
			}
			appear()
			i := newInstaller(newService(t), h, nil, func(o *installer.Options) {
				o.Sleep = func(_ context.Context, d time.Duration) error {
					slept += d
					appear()
					return nil
				}
			})
			req := request("master", 3)
			req.BootDevice = c.device
			_, err := i.WriteImage(t.Context(), req)
			require.Equal(t, c.slept, slept)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestWriteImageReportsProgress(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"coreos-installer install": writesImage})
	req := request("master", 3)
	req.InstallerArgs = `["--append-karg","ip=eth0:dhcp"]`
	req.Proxy = wire.Proxy{HTTPSProxy: "http://proxy:3128", NoProxy: "localhost"}
	report, err := newInstaller(s, h, nil).WriteImage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "/dev/sda", report.Device)
	command := h.Commands()[0]
	require.Equal(t, "coreos-installer install -i "+ignFile+" --append-karg ip=eth0:dhcp /dev/sda", command.String())
	require.Equal(t, []string{"HTTPS_PROXY=http://proxy:3128", "NO_PROXY=localhost"}, command.Env)
	stages, _ := s.reports()
	require.Equal(t, "Writing image to disk 100%", stages[len(stages)-1])
}

// strict acts as coreos-installer does without a network: the live system's image needs no signature, and no other image has one
// (coreos/coreos-installer, src/source.rs and src/install.rs).
func strict(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	named := false
	for _, a := range c.Args {
		named = named || strings.HasPrefix(a, "--image-url") || strings.HasPrefix(a, "--image-file")
	}
	if n := strings.Count(" "+strings.Join(c.Args, " ")+" ", " --insecure "); n > 1 {
		return hostexectest.Fails(2, "error: the argument '--insecure' cannot be used multiple times")(ctx, c)
	} else if named && n == 0 {
		return hostexectest.Fails(1, "Error: --insecure not specified and signature not found")(ctx, c)
	}
	return writesImage(ctx, c)
}

// Attack: an image that a user names is exchanged on its way; without a signature it is not written unless the user says so.
func TestImagesWithoutASignatureAreWrittenWhenTheUserSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"the live system's own":  {``, ""},
		"with other arguments":   {`["--append-karg","--insecure=x"]`, ""},
		"of an address":          {`["--image-url","https://mirror.example.com/a.raw.gz"]`, "signature not found"},
		"of an address, joined":  {`["--image-url=https://mirror.example.com/a.raw.gz"]`, "signature not found"},
		"of a file":              {`["--image-file","/a.raw.gz"]`, "signature not found"},
		"of an address, allowed": {`["--insecure","--image-url","https://mirror.example.com/a.raw.gz"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"coreos-installer install": strict})
			req := request("master", 3)
			req.InstallerArgs = c.args
			_, err := newInstaller(s, h, nil).WriteImage(t.Context(), req)
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, strings.Contains(c.args, `"--insecure"`), slices.Contains(h.Commands()[0].Args, "--insecure"))
		})
	}
}

func TestWriteImageDoesNotDependOnReports(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"coreos-installer install": writesImage})
	s.broken = true
	_, err := newInstaller(s, h, nil).WriteImage(t.Context(), request("master", 3))
	require.NoError(t, err)
}

func TestFailedWriteTellsTheCauseWithoutProgress(t *testing.T) {
	t.Parallel()
	said := "Reading image\n> Read disk 1.0 GiB/3.6 GiB (27%)\r> Read disk 1.4 GiB/3.6 GiB (38%)\rError: copying image to " +
		"target\nCaused by:\n    Input/output error"
	s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"coreos-installer": hostexectest.Fails(1, said)})
	_, err := newInstaller(s, h, nil).WriteImage(t.Context(), request("master", 3))
	require.ErrorContains(t, err, "Input/output error")
	require.NotContains(t, err.Error(), "Read disk")
}

func TestFailedWriteTellsTheCauseWithoutWhatSurroundsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, want string }{
		"a busy disk": {
			"Copying image from /a\nSignature not found; skipping verification as requested\nPartitions in use on /dev/sda:\n    " +
				"/dev/sda1 in use by /dev/md0\n" +
				"\nError: checking for exclusive access to /dev/sda\n\nCaused by:\n    found busy partitions",
			"Partitions in use on /dev/sda:\n    /dev/sda1 in use by /dev/md0\nError: checking for exclusive access to /dev/sda\nCaused " +
				"by:\n    found busy partitions",
		},
		"a trace of the program": {
			"Copying image\n> Read disk 1 MiB (5%)\nError: no udev\n\nStack backtrace:\n   0: anyhow::error\n             at " +
				"./csu/x.h:58:16\n  10: _start\n\nResetting partition table\n" +
				"Error: no udev either\n\nStack backtrace:\n   0: main",
			"Error: no udev\nResetting partition table\nError: no udev either",
		},
		"arguments it does not know": {
			"error: unexpected argument '--x' found\n\nUsage: coreos-installer install",
			"error: unexpected argument '--x' found\nUsage: coreos-installer install",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, map[string]hostexectest.Answer{"coreos-installer": hostexectest.Fails(1, c.said)})
			_, err := newInstaller(s, h, nil).WriteImage(t.Context(), request("master", 3))
			var exit *hostexec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, c.want, exit.Stderr)
		})
	}
}

func TestWriteImageTriesOnce(t *testing.T) {
	t.Parallel()
	s, h := newService(
		t,
	), newHost(
		t,
		map[string]hostexectest.Answer{"coreos-installer": hostexectest.Fails(1, "Error: found busy partitions")},
	)
	_, err := newInstaller(s, h, nil).WriteImage(t.Context(), request("master", 3))
	var exit *hostexec.ExitError
	require.ErrorAs(t, err, &exit)
	require.ErrorContains(t, err, "write the image to /dev/sda")
	require.Equal(t, 1, h.Count("coreos-installer"))
}

func TestReportsAreJSON(t *testing.T) {
	t.Parallel()
	s, h := newService(
		t,
	), newHost(
		t,
		map[string]hostexectest.Answer{"wipefs": hostexectest.Prints(""), "lsblk": hostexectest.Prints(emptyDisk)},
	)
	report, err := newInstaller(s, h, nil).CleanDisk(t.Context(), request("worker", 3))
	require.NoError(t, err)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	require.JSONEq(t, `{"cleaned":["signatures of /dev/sda"],"skipped":[],"warnings":[]}`, string(text))
}
