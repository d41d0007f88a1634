package installer_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/testing/await"
	"slipway/internal/testing/hostexectest"
)

func TestCleanDiskRunsThePlan(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{
		"dd": hostexectest.Prints(""),
		"pvs": hostexectest.Prints(
			`{"report":[{"pv":[{"pv_name":"/dev/sda1","vg_name":"vg0"},{"pv_name":"/dev/sdaa1","vg_name":"other"}]}]}`,
		),
		"lsblk": hostexectest.Prints(`{"blockdevices":[{"name":"/dev/sda","kname":"/dev/sda","type":"disk","children":[
			{"name":"/dev/sda1","kname":"/dev/sda1","type":"part"}]}]}`),
		"vgremove":                      hostexectest.Fails(5, "volume group in use"),
		"pvremove":                      hostexectest.Prints(""),
		"wipefs":                        hostexectest.Prints(""),
		"wipefs --all --force /dev/sda": hostexectest.Fails(1, "busy"),
	})
	h.write(t, "/dev/sdb", "")
	require.NoError(t, os.MkdirAll(h.root.Path("/dev/disk/by-id"), 0o755))
	require.NoError(t, os.Symlink("../../sda", h.root.Path("/dev/disk/by-id/wwn-1")))
	req := request("master", 3)
	req.BootDevice, req.DisksToFormat = "/dev/disk/by-id/wwn-1", []string{"/dev/sdb"}

	report, err := newInstaller(newService(t), h, nil).CleanDisk(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, []string{
		"dd if=/dev/zero of=/dev/sdb bs=512 count=1",
		"lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT /dev/sda",
		"pvs --reportformat json --options pv_name,vg_name,vg_uuid",
		"vgremove --yes --force vg0",
		"pvremove --yes --force --force /dev/sda1",
		"wipefs --all --force /dev/sda1",
		"wipefs --all --force /dev/sda",
		"wipefs --all /dev/sda",
		// What did not go is tried again once nothing is stacked on it.
		"lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT /dev/sda",
		"lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT /dev/sda",
	}, h.Lines()[:10])
	require.Len(t, h.Lines(), 16)
	require.Equal(t, []string{
		"partition table of /dev/sdb", "physical volume /dev/sda1", "signatures of /dev/sda1", "signatures of /dev/sda",
	}, report.Cleaned)
	require.Len(t, report.Warnings, 1)
	require.Contains(t, report.Warnings[0], "could not remove volume group vg0")
	require.Empty(t, report.Skipped)
}

func TestCleanDiskWithoutToolsStillWipes(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{"wipefs": hostexectest.Prints("")})
	report, err := newInstaller(newService(t), h, nil).CleanDisk(t.Context(), request("worker", 3))
	require.NoError(t, err)
	require.Equal(t, []string{"signatures of /dev/sda"}, report.Cleaned)
	require.Len(t, report.Warnings, 1)
}

func TestCleanDiskGoesOnWithoutACommandThatHangs(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{
		"lsblk": hostexectest.Prints(emptyDisk), "pvs": hostexectest.Hangs, // on a path to a disk that is gone
		"wipefs": hostexectest.Prints(""),
	})
	i := newInstaller(newService(t), h, nil, func(o *installer.Options) { o.CleanLimit = time.Millisecond })
	report, err := i.CleanDisk(t.Context(), request("worker", 3))
	require.NoError(t, err)
	require.Equal(t, []string{"signatures of /dev/sda"}, report.Cleaned)
	require.Len(t, report.Warnings, 1)
	require.Contains(t, report.Warnings[0], "no end after 1ms")
}

func TestCleanDiskLeavesWhatItIsToldToLeave(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	req := request("worker", 3)
	req.SkipInstallationDiskCleanup = true
	report, err := newInstaller(newService(t), h, nil).CleanDisk(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, report.Skipped, 1)
	require.Empty(t, h.Lines())
}

func TestCleanDiskFormatsNoDiskWhosePartitionsAreKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		skip bool
		args string
	}{
		"by label, as the service says":             {skip: true, args: `["--save-partlabel","data"]`},
		"by label, whatever the service says":       {args: `["--save-partlabel=data"]`},
		"by number, whatever the service says":      {args: `["--save-partindex","-4"]`},
		"all, as the service says for other reason": {skip: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, map[string]hostexectest.Answer{
				"dd": hostexectest.Prints(""), "lsblk": hostexectest.Fails(32, "not a block device"),
				"lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT /dev/sdb": hostexectest.Prints(
					`{"blockdevices":[{"name":"/dev/sdb","kname":"/dev/sdb","type":"disk"}]}`),
				"lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT /dev/sdc": hostexectest.Prints(
					`{"blockdevices":[{"name":"/dev/sdc","kname":"/dev/sdc","type":"disk","children":[
						{"name":"/dev/mapper/mpatha","kname":"/dev/sda","type":"mpath"}]}]}`),
			})
			for _, device := range []string{"/dev/sdb", "/dev/sdc", "/dev/sdd"} {
				h.write(t, device, "")
			}
			require.NoError(t, os.MkdirAll(h.root.Path("/dev/disk/by-id"), 0o755))
			require.NoError(t, os.Symlink("../../sda", h.root.Path("/dev/disk/by-id/wwn-1")))
			req := request("worker", 3)
			req.BootDevice = "/dev/disk/by-id/wwn-1"
			req.DisksToFormat = []string{"/dev/sda", "/dev/disk/by-id/wwn-1", "/dev/sdb", "/dev/sdc", "/dev/sdd"}
			req.SkipInstallationDiskCleanup, req.InstallerArgs = c.skip, c.args

			report, err := newInstaller(newService(t), h, nil).CleanDisk(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, []string{"partition table of /dev/sdb"}, report.Cleaned)
			require.Equal(t, 1, h.Count("dd"))
			require.Zero(t, h.Count("wipefs")+h.Count("pvs"))
			require.Len(t, report.Skipped, 4)
			require.Len(t, report.Warnings, 1)
			require.Contains(t, report.Warnings[0], "did not format /dev/sdd, which may carry the installation disk")
		})
	}
}

func TestCleanDiskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := newHost(
		t,
		map[string]hostexectest.Answer{
			"lsblk":  hostexectest.Prints(emptyDisk),
			"pvs":    hostexectest.Prints(`{}`),
			"wipefs": hostexectest.Hangs,
		},
	)
	i := newInstaller(newService(t), h, nil)
	done := make(chan error)
	go func() {
		_, err := i.CleanDisk(ctx, request("worker", 3))
		done <- err
	}()
	await.True(t, func() bool { return h.Count("wipefs") == 1 })
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, 1, h.Count("wipefs"), "no fallback after the end")
}

func TestCheckRequestWantsDevicesOfThisHost(t *testing.T) {
	t.Parallel()
	i := newInstaller(newService(t), newHost(t, nil), nil)
	for name, c := range map[string]struct{ device, format, args, want string }{
		"a device that is here":      {"/dev/sda", "", `["--append-karg","a=b"]`, ""},
		"no device":                  {"", "", "", "require a device below /dev"},
		"a file":                     {"/etc/passwd", "", "", "require a device below /dev"},
		"a way out of /dev":          {"/dev/../etc/passwd", "", "", "require a device below /dev"},
		"a device of another host":   {"/dev/sdb", "", "", "look for device /dev/sdb"},
		"a disk that is not here":    {"/dev/sda", "/dev/sdz", "", "look for device /dev/sdz"},
		"arguments that are no list": {"/dev/sda", "", `--append-karg`, "read the installer arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request("worker", 3)
			req.BootDevice, req.InstallerArgs = c.device, c.args
			if c.format != "" {
				req.DisksToFormat = []string{c.format}
			}
			err := i.CheckRequest(req)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
