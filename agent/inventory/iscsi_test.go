package inventory_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/wire"
)

const (
	bootTarget = "iqn.2026-01.com.example:boot"
	dataTarget = "iqn.2026-01.com.example:data"
	sdaState   = "/sys/devices/platform/host2/session1/target2:0:0/2:0:0:0/state"
	sdbState   = "/sys/devices/platform/host3/session2/target3:0:0/3:0:0:1/state"
	ibftTarget = "/sys/firmware/ibft/target0/target-name"
)

// withoutTable removes the table of the firmware.
func withoutTable(files tree) {
	for path := range files {
		if strings.HasPrefix(path, "/sys/firmware/ibft/") {
			delete(files, path)
		}
	}
}

func session(files tree, name, target, state string) {
	files["/sys/class/iscsi_session/"+name+"/targetname"] = target + "\n"
	files["/sys/class/iscsi_session/"+name+"/state"] = state + "\n"
}

// named gives the session of the first disk a target and a state, and the table of the firmware one target.
func named(target, state, inTable string) func(tree) {
	return func(files tree) {
		session(files, "session1", target, state)
		files[ibftTarget] = inTable + "\n"
	}
}

func TestISCSIDisksThatCannotBeBooted(t *testing.T) {
	t.Parallel()
	const notRunning, loggedOut, noTable, notNamed = "Require an iSCSI disk that is running, found ",
		"Require an iSCSI session that is logged in, found ", "The firmware has no table of iSCSI targets",
		"Require an iSCSI target that the firmware boots from, found "
	for name, c := range map[string]struct {
		change func(tree)
		want   string // of sda; empty: eligible
	}{
		"the disk is offline":           {func(f tree) { f[sdaState] = "offline\n" }, notRunning + "offline"},
		"the disk is blocked":           {func(f tree) { f[sdaState] = "blocked\n" }, notRunning + "blocked"},
		"the transport is offline":      {func(f tree) { f[sdaState] = "transport-offline\n" }, notRunning + "transport-offline"},
		"the disk is quiesced":          {func(f tree) { f[sdaState] = "quiesce\n" }, notRunning + "quiesce"},
		"the disk runs":                 {func(f tree) { f[sdaState] = "running\n" }, ""},
		"the session failed":            {named(bootTarget, "FAILED", bootTarget), loggedOut + "FAILED"},
		"the session was freed":         {named(bootTarget, "FREE", bootTarget), loggedOut + "FREE"},
		"another session failed":        {func(f tree) { session(f, "session12", dataTarget, "FAILED") }, ""},
		"the firmware has no table":     {withoutTable, noTable},
		"the table names another one":   {named(dataTarget, "LOGGED_IN", bootTarget), notNamed + dataTarget},
		"the table names it":            {named(bootTarget, "LOGGED_IN", bootTarget), ""},
		"the table has no target":       {func(f tree) { session(f, "session1", bootTarget, "LOGGED_IN") }, notNamed + bootTarget},
		"the kernel has no name for it": {func(f tree) { f[ibftTarget] = bootTarget }, ""},
		"the second target of the table": {func(f tree) {
			session(f, "session1", bootTarget, "LOGGED_IN")
			f[ibftTarget], f["/sys/firmware/ibft/target1/target-name"] = dataTarget, "iqn.2026-01.com.example:BOOT"
		}, ""},
		"the table of its adapter": {func(f tree) {
			withoutTable(f)
			session(f, "session1", bootTarget, "LOGGED_IN")
			f["/sys/firmware/iscsi_boot2/target0/target-name"] = bootTarget
		}, ""},
		"the table of another adapter": {func(f tree) {
			withoutTable(f)
			session(f, "session1", bootTarget, "LOGGED_IN")
			f["/sys/firmware/iscsi_boot3/target0/target-name"] = bootTarget
		}, noTable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, filepath.Join("testdata", "hosts", "iscsi-boot.txtar"))
			c.change(r.files)
			require.Equal(t, c.want, strings.Join(reasonsOf(t, r, "sda"), "; "))
		})
	}
}

func TestMultipathOverISCSINeedsAUsablePath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tree)
		want   string
	}{
		"all paths run": {func(tree) {}, ""},
		"one path runs": {func(f tree) { f[sdaState] = "transport-offline" }, ""},
		"no path runs": {
			func(f tree) { f[sdaState], f[sdbState] = "offline", "blocked" },
			"A host can boot from none of the iSCSI paths sda, sdb",
		},
		"no path is in the table": {withoutTable, "A host can boot from none of the iSCSI paths sda, sdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, filepath.Join("testdata", "hosts", "iscsi-boot.txtar"))
			plantMap(r.files, "/sys/devices/virtual/block/dm-0", "sda", "sdb")
			c.change(r.files)
			require.Equal(t, c.want, strings.Join(reasonsOf(t, r, "dm-0"), "; "))
		})
	}
}

// plantMap adds a multipath device over disks.
func plantMap(files tree, sys string, paths ...string) {
	files["/sys/block/dm-0"] = "-> ../devices/virtual/block/dm-0"
	for name, content := range map[string]string{
		"/dm/name": "mpatha", "/dm/uuid": "mpath-36001405000000000000020ab", "/dev": "253:0", "/size": "268435456", "/removable": "0",
		"/ro": "0", "/hidden": "0", "/queue/rotational": "1", "/queue/physical_block_size": "512",
	} {
		files[sys+name] = content
	}
	for _, path := range paths {
		files[sys+"/slaves/"+path+"/"] = ""
	}
}

func reasonsOf(t *testing.T, r recorded, name string) []string {
	t.Helper()
	for _, d := range inventory.Collect(t.Context(), r.machine(t)).Disks {
		if d.Name == name {
			require.Equal(t, wire.DriveTypeISCSI == d.DriveType, name != "dm-0")
			return d.InstallationEligibility.NotEligibleReasons
		}
	}
	require.Fail(t, "not in the inventory", name)
	return nil
}
