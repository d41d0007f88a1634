package lifecycle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

type hf = lifecycle.HostFacts

// hostCase is an event on a host and the row that answers it.
type hostCase struct {
	row    string
	event  lifecycle.HostEvent
	from   model.HostStatus
	change func(*hf)
	to     model.HostStatus
	effect lifecycle.Effect
	says   string // part of the status info; "-" wants none
}

func stage(s model.Stage) func(*hf)                 { return func(f *hf) { f.Stage = s } }
func cluster(s model.ClusterStatus) func(*hf)       { return func(f *hf) { f.ClusterStatus = s } }
func dayTwo(f *hf)                                  { f.DayTwo = true }
func oneStep(f *hf)                                 { f.SilentAfterReboot = true }
func silent(f *hf)                                  { f.Conditions.Connected = false }
func soft(f *hf)                                    { f.Timeouts.Soft = true }
func retry(f *hf)                                   { f.AwaitingRetry = true }
func over(s model.Stage, d time.Duration) func(*hf) { return func(f *hf) { f.Stage, f.Limit = s, d } }
func because(why string) func(*hf)                  { return func(f *hf) { f.Reason = why } }
func began(f *hf)                                   { f.BeganBootstrap = true }
func noAgent(f *hf)                                 { f.NoAgent = true }

func failing(id string) func(*hf) {
	return func(f *hf) { f.Conditions = lifecycle.HostConditionsOf(failed(id)) }
}

func checks(disk, images lifecycle.Outcome) func(*hf) {
	return func(f *hf) { f.DiskSpeed, f.Images = disk, images }
}

func all(changes ...func(*hf)) func(*hf) {
	return func(f *hf) {
		for _, c := range changes {
			c(f)
		}
	}
}

const (
	register = lifecycle.RegisterHost
	progress = lifecycle.HostProgressed
	refresh  = lifecycle.RefreshHost
	none     = lifecycle.EffectNone
)

var (
	preparing  = cluster(model.ClusterPreparingForInstallation)
	installing = cluster(model.ClusterInstalling)
	broken     = cluster(model.ClusterError)
	pending    = cluster(model.ClusterInstallingPendingUserAction)
)

var eventCases = []hostCase{
	{"Initial registration", register, "", nil, "discovering", lifecycle.EffectRegistered, "discovered"},
	{"Initial registration unbound", register, "", func(f *hf) { f.Unbound = true }, "discovering-unbound", lifecycle.EffectRegistered, ""},
	{
		"Rebooting day-2 host stays in progress", progress, "installing", all(dayTwo, stage(model.StageRebooting)),
		"installing-in-progress", none, "Rebooting",
	},
	{
		"Day-2 host rebooted after its only step", progress, "installing-in-progress", all(dayTwo, oneStep, stage(model.StageDone)),
		"added-to-existing-cluster", none, "approve the signing requests",
	},
	{
		"Day-2 host is added already", progress, "added-to-existing-cluster", all(dayTwo, oneStep, stage(model.StageDone)),
		"added-to-existing-cluster", none, "-",
	},
	{
		"Day-2 host joined its cluster", progress, "installing-in-progress", all(dayTwo, stage(model.StageDone)),
		"added-to-existing-cluster", none, "",
	},
	{"Host is done", progress, "installing-in-progress", stage(model.StageDone), "installed", none, ""},
	{
		"Host is done although it waited for its user", progress, "installing-pending-user-action", stage(model.StageDone),
		"installed", none, "",
	},
	{
		"Host is done although its workflow waits for a decision", progress, "error", all(retry, stage(model.StageDone)),
		"installed", lifecycle.EffectContinued, "",
	},
	{
		"Host of another cluster is done although its workflow waits for a decision", progress, "error",
		all(retry, dayTwo, stage(model.StageDone)), "added-to-existing-cluster", lifecycle.EffectContinued, "",
	},
	{
		"Host is ahead of its workflow, which waits for a decision", progress, "error", all(retry, stage(model.StageConfiguring)),
		"installing-in-progress", lifecycle.EffectContinued, "Configuring",
	},
	{"Host progresses", progress, "installing", stage(model.StageWritingImageToDisk), "installing-in-progress", none, "Writing image to disk"},
	{
		"Host progresses", progress, "installing-pending-user-action", stage(model.StageConfiguring),
		"installing-in-progress", none, "Configuring",
	},
	{"Progress changes nothing", progress, "installed", stage(model.StageJoined), "installed", none, "-"},
	{"Registration again while preparing", register, "preparing-successful", nil, "known", lifecycle.EffectRegistered, ""},
	{"Registration again", register, "disconnected", nil, "discovering", lifecycle.EffectRegistered, ""},
	{
		"Registration before the boot that a reset needs", register, "resetting-pending-user-action", began,
		"resetting-pending-user-action", none, "-",
	},
	{"Registration again", register, "resetting-pending-user-action", nil, "discovering", lifecycle.EffectRegistered, ""},
	{"Registration before the reboot of a reset", register, "resetting", stage(model.StageRebooting), "resetting", none, "-"},
	{"Registration after a reset", register, "resetting", nil, "discovering", lifecycle.EffectRegistered, ""},
	{
		"Wrong boot order", register, "installing-in-progress", stage(model.StageRebooting),
		"installing-pending-user-action", lifecycle.EffectWrongBootOrder, "boot order",
	},
	{
		"Wrong boot order", register, "added-to-existing-cluster", all(dayTwo, stage(model.StageDone)),
		"installing-pending-user-action", lifecycle.EffectWrongBootOrder, "",
	},
	{
		"Registration while installing", register, "installing-in-progress", stage(model.StageWritingImageToDisk),
		"error", lifecycle.EffectFailed, "Writing image to disk",
	},
	{"Registration after a failure", register, "error", nil, "error", none, "-"},
	{"Registration after installation", register, "installed", nil, "installed", lifecycle.EffectWrongBootOrder, ""},
	{
		"Installation failed", lifecycle.HostInstallationFailed, "installing",
		all(stage(model.StageInstalling), because("no space")),
		"error", lifecycle.EffectFailed, `"Installing": no space`,
	},
	{"Installation cancelled", lifecycle.CancelHost, "error", nil, "cancelled", lifecycle.EffectCancelled, ""},
	{"Preparation cancelled", lifecycle.CancelHost, "preparing-for-installation", nil, "known", lifecycle.EffectCancelled, ""},
	{
		"Installation cancelled before the next attempt", lifecycle.CancelHost, "known", installing,
		"cancelled", lifecycle.EffectCancelled, "cancelled",
	},
	{"Nothing to cancel", lifecycle.CancelHost, "known", nil, "known", lifecycle.EffectCancelled, "-"},
	{"Install day-2 host", lifecycle.InstallHost, "known", dayTwo, "installing", none, ""},
	{
		"Reset needs a reboot", lifecycle.ResetHost, "installed", noAgent,
		"resetting-pending-user-action", lifecycle.EffectResetNeedsUser, "discovery image",
	},
	{"Unbind before installation", lifecycle.UnbindHost, "known", nil, "unbinding", lifecycle.EffectUnbound, ""},
	{
		"Unbind during or after installation", lifecycle.UnbindHost, "installed", nil,
		"unbinding-pending-user-action", lifecycle.EffectUnbound, "",
	},
	{"Unbind before it registered for the cluster", lifecycle.UnbindHost, "binding", nil, "unbinding", lifecycle.EffectUnbound, ""},
	{
		"Unbind during a reset", lifecycle.UnbindHost, "resetting-pending-user-action", nil,
		"unbinding-pending-user-action", lifecycle.EffectUnbound, "",
	},
	{"Reclaim installed host", lifecycle.ReclaimHost, "installed", nil, "reclaiming", lifecycle.EffectUnbound, ""},
	{"Reclaimed host reboots", lifecycle.RebootingForReclaim, "reclaiming", nil, "reclaiming-rebooting", none, ""},
	{"Reclaim failed", lifecycle.ReclaimFailed, "reclaiming", because("no answer"), "unbinding-pending-user-action", none, ": no answer"},
	{"Reclaim before installation", lifecycle.ReclaimHost, "known", nil, "unbinding", lifecycle.EffectUnbound, ""},
	{"Reclaim failed host", lifecycle.ReclaimHost, "error", nil, "unbinding-pending-user-action", lifecycle.EffectUnbound, ""},
	{"Media gone before installation", lifecycle.MediaDisconnect, "known", nil, "disconnected", none, "media"},
	{"Media gone during installation", lifecycle.MediaDisconnect, "installing", nil, "error", lifecycle.EffectFailed, "media"},
	{"Registration again unbound", register, "unbinding", nil, "discovering-unbound", lifecycle.EffectRegistered, ""},
	{"Bind", lifecycle.BindHost, "known-unbound", nil, "binding", none, ""},
	{"Media of unbound host gone", lifecycle.MediaDisconnect, "known-unbound", nil, "disconnected-unbound", none, ""},
}

// workflowCases are the cases of workflows.
var workflowCases = []hostCase{
	{
		"Preparation begins with its cluster", lifecycle.PrepareHost, "known", preparing,
		"preparing-for-installation", lifecycle.EffectPrepared, "preparing",
	},
	{
		"Preparation begins with its cluster", lifecycle.PrepareHost, "preparing-for-installation", preparing,
		"preparing-for-installation", lifecycle.EffectPrepared, "",
	},
	{"Installation begins", lifecycle.InstallationBegins, "preparing-successful", installing, "installing", none, "starting"},
	{"Cluster stopped preparing", lifecycle.PreparationStopped, "preparing-for-installation", nil, "known", none, ""},
	{"Failed preparation is over", lifecycle.PreparationStopped, "preparing-failed", nil, "known", none, ""},
	{"Prepared host is not needed", lifecycle.PreparationStopped, "preparing-successful", nil, "known", none, ""},
	{
		"First attempt of a host that has reported", lifecycle.BeginAttempt, "installing-in-progress", nil,
		"installing-in-progress", lifecycle.EffectAttemptCounted, "-",
	},
	{"First attempt of a host that has reported", lifecycle.BeginAttempt, "installed", nil, "installed", lifecycle.EffectAttemptCounted, "-"},
	{"First attempt of a host that has reported", lifecycle.BeginAttempt, "error", nil, "error", lifecycle.EffectAttemptCounted, "-"},
	{
		"Attempt begins", lifecycle.BeginAttempt, "installing-in-progress", func(f *hf) { f.Tried, f.Attempt = true, 2 },
		"installing", lifecycle.EffectAttempt, "tried again",
	},
	{
		"Attempt begins", lifecycle.BeginAttempt, "error", func(f *hf) { f.Tried, f.Attempt = true, 2 },
		"installing", lifecycle.EffectAttempt, "tried again",
	},
	{"Attempt begins", lifecycle.BeginAttempt, "known", nil, "installing", lifecycle.EffectAttempt, "starting"},
	{"Stage is repeated", lifecycle.RepeatStage, "error", nil, "installing-in-progress", lifecycle.EffectStageRepeated, "tried again"},
	{
		"Attempt failed", lifecycle.FailHost, "installing-in-progress", because("I/O error"),
		"error", lifecycle.EffectDecisionOpened, "I/O error",
	},
	{"Host was given up", lifecycle.GiveUpHost, "error", nil, "error", lifecycle.EffectGivenUp, "-"},
	{
		"Retry needs a reboot", lifecycle.RetryHost, "error", stage(model.StageConfiguring),
		"resetting-pending-user-action", lifecycle.EffectRediscover, "Boot the host",
	},
	{
		"Stage waits for the user of another host", lifecycle.StageTimedOut, "installing-in-progress",
		all(pending, over(model.StageWaitingForBootkube, time.Hour)),
		"installing-in-progress", lifecycle.EffectStageClockRestarted, "-",
	},
	{
		"Stage timed out", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, over(model.StageConfiguring, time.Hour)),
		"error", lifecycle.EffectFailed, `"Configuring" for more than 1h`,
	},
	{
		"Writing the image timed out", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, over(model.StageWritingImageToDisk, 30*time.Minute)),
		"error", lifecycle.EffectFailed, "30m",
	},
	{
		"Copying data timed out", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, over(model.StageCopyingRegistryData, 90*time.Minute)),
		"error", lifecycle.EffectFailed, "1h30m",
	},
	{
		"Stage takes long", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, soft, over(model.StageConfiguring, time.Hour)),
		"installing-in-progress", lifecycle.EffectStageTimedOut, "",
	},
	{
		"Writing the image takes long", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, soft, over(model.StageWritingImageToDisk, time.Hour)),
		"installing-in-progress", lifecycle.EffectStageTimedOut, "",
	},
	{
		"Copying data takes long", lifecycle.StageTimedOut, "installing-in-progress",
		all(installing, soft, over(model.StageCopyingRegistryData, time.Hour)),
		"installing-in-progress", lifecycle.EffectStageTimedOut, "",
	},
	{
		"Reboot was not begun in time", lifecycle.StageTimedOut, "installing-in-progress",
		over(model.StageRebooting, 80*time.Minute),
		"error", lifecycle.EffectFailed, "not begun to reboot in 1h20m",
	},
	{
		"Stage timed out while its user was awaited", lifecycle.StageTimedOut, "installing-pending-user-action",
		over(model.StageJoined, time.Hour),
		"error", lifecycle.EffectFailed, "Joined",
	},
	{
		"Stage takes long while its user is awaited", lifecycle.StageTimedOut, "installing-pending-user-action",
		all(soft, over(model.StageJoined, time.Hour)),
		"installing-pending-user-action", lifecycle.EffectStageTimedOut, "Joined",
	},
	{
		"Stage still takes long", lifecycle.StageTimedOut, "installing-in-progress",
		all(soft, over(model.StageJoined, time.Hour), func(f *hf) { f.StageTimedOut = true }),
		"installing-in-progress", none, "-",
	},
	{
		"Reboot takes too long", lifecycle.RebootTimedOut, "installing-in-progress",
		func(f *hf) { f.InstallationDisk = "/dev/sda" },
		"installing-pending-user-action", lifecycle.EffectRebootTimedOut,
		"It may still be starting, which its console shows; if not, check the boot order, and boot it from /dev/sda",
	},
	{"Installed host resumes", lifecycle.ResumeHost, "error", stage(model.StageDone), "installed", none, ""},
	{
		"Reset in the live image", lifecycle.ResetHost, "error", stage(model.StageWritingImageToDisk),
		"resetting", lifecycle.EffectResetBegun, "reset",
	},
	{"Reset in the live image", lifecycle.ResetHost, "disconnected", nil, "resetting", lifecycle.EffectResetBegun, ""},
	{
		"Reset needs a reboot", lifecycle.ResetHost, "installing-in-progress", began,
		"resetting-pending-user-action", lifecycle.EffectResetNeedsUser, "",
	},
	{"Reset needs a reboot", lifecycle.ResetHost, "cancelled", began, "resetting-pending-user-action", lifecycle.EffectResetNeedsUser, ""},
	{
		"Reset needs a reboot", lifecycle.ResetHost, "error", stage(model.StageConfiguring),
		"resetting-pending-user-action", lifecycle.EffectResetNeedsUser, "",
	},
	{"Host is reset", lifecycle.FinishHostReset, "resetting", nil, "discovering", lifecycle.EffectReset, "inventory"},
	{
		"Host is reset but for its boot", lifecycle.FinishHostReset, "resetting-pending-user-action", nil,
		"resetting-pending-user-action", lifecycle.EffectReset, "-",
	},
}

var refreshCases = []hostCase{
	{"Preparation begins", refresh, "known", preparing, "preparing-for-installation", none, ""},
	{
		"Preparation succeeded", refresh, "preparing-for-installation",
		all(preparing, checks(lifecycle.Passed, lifecycle.Passed)),
		"preparing-successful", none, "",
	},
	{"Prepared host waits", refresh, "preparing-successful", preparing, "preparing-successful", none, "-"},
	{
		"Disk too slow to be checked", refresh, "preparing-for-installation",
		all(preparing, checks(lifecycle.Failed, lifecycle.Passed), failing("sufficient-installation-disk-speed")),
		"insufficient", none, "because of sufficient-installation-disk-speed",
	},
	{
		"Images not available", refresh, "preparing-for-installation",
		all(preparing, checks(lifecycle.Passed, lifecycle.Failed)),
		"preparing-failed", none, "images",
	},
	{
		"Preparation continues", refresh, "preparing-for-installation",
		all(preparing, checks(lifecycle.Passed, lifecycle.Unknown)),
		"preparing-for-installation", none, "-",
	},
	{"Host disconnected", refresh, "known", silent, "disconnected", none, "3m"},
	{"Host disconnected", refresh, "known", failing("media-connected"), "disconnected", none, "media"},
	{"Cluster failed", refresh, "installed", broken, "error", none, "cluster failed"},
	{"Disconnected while preparing", refresh, "preparing-for-installation", all(preparing, silent), "disconnected", none, ""},
	{"Disconnected while installing", refresh, "installing-in-progress", all(installing, silent), "error", lifecycle.EffectFailed, ""},
	{
		"Silent while installing", refresh, "installing-in-progress", all(installing, silent, soft),
		"installing-in-progress", lifecycle.EffectConnectionLost, "",
	},
	{
		"Back while installing", refresh, "installing-in-progress",
		all(installing, soft, func(f *hf) { f.ConnectionTimedOut = true }),
		"installing-in-progress", lifecycle.EffectConnectionBack, "",
	},
	{
		"Stage waits for another host's user", refresh, "installing-in-progress",
		all(pending, stage(model.StageWaitingForBootkube)),
		"installing-in-progress", lifecycle.EffectStageClockRestarted, "-",
	},
	{
		"Installation continues", refresh, "installing-in-progress", all(installing, stage(model.StageRebooting)),
		"installing-in-progress", none, "-",
	},
	{"Installation continues", refresh, "installing-pending-user-action", pending, "installing-pending-user-action", none, "-"},
	{"Installation waits for a retry", refresh, "installed", all(broken, retry), "installed", none, "-"},
	{"Discovery", refresh, "disconnected", failing("has-inventory"), "discovering", none, ""},
	{"Hardware insufficient", refresh, "known", failing("has-min-cpu-cores"), "insufficient", none, "because of has-min-cpu-cores"},
	{"Input missing", refresh, "discovering", failing("machine-cidr-defined"), "pending-for-input", none, "because of machine-cidr-defined"},
	{"Host not ready", refresh, "known", failing("hostname-unique"), "insufficient", none, "because of hostname-unique"},
	{"Host not ready", refresh, "discovering", failing("vsphere-disk-uuid-enabled"), "insufficient", none, ""},
	{"Host not ready", refresh, "known", failing("odf-requirements-satisfied"), "insufficient", none, "odf"},
	{"Host ready", refresh, "insufficient", nil, "known", none, ""},
	{"Host ready", refresh, "insufficient", failing("ntp-synced"), "known", none, ""},
	{"Host stays ready", refresh, "known", nil, "known", none, ""},
	{"Host stays ready", refresh, "known", all(preparing, func(f *hf) { f.Role = model.RoleAutoAssign }), "known", none, ""},
	{"Logs timed out", refresh, "error", func(f *hf) { f.LogsTimedOut = true }, "error", lifecycle.EffectLogsTimedOut, "-"},
	{"Host stays as it ended", refresh, "cancelled", nil, "cancelled", none, "-"},
	{"Day-2 host stays in its cluster", refresh, "added-to-existing-cluster", dayTwo, "added-to-existing-cluster", none, "-"},
	{"Reclaim continues", refresh, "reclaiming", nil, "reclaiming", none, "-"},
	{"Unbound host disconnected", refresh, "known-unbound", silent, "disconnected-unbound", none, ""},
	{"Unbound discovery", refresh, "discovering-unbound", failing("has-inventory"), "discovering-unbound", none, ""},
	{
		"Hardware of unbound host insufficient", refresh, "known-unbound", failing("hostname-valid"),
		"insufficient-unbound", none, "hostname-valid",
	},
	{"Binding continues", refresh, "binding", nil, "binding", none, "-"},
	{"Ready to be bound", refresh, "discovering-unbound", nil, "known-unbound", none, ""},
	{"Nothing changes", refresh, "disabled", nil, "disabled", none, "-"},
}

func TestHostTransitions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, list := range [][]hostCase{eventCases, workflowCases, refreshCases} {
		for _, tt := range list {
			seen[tt.row] = true
			t.Run(string(tt.event)+" "+string(tt.from)+": "+tt.row, func(t *testing.T) {
				t.Parallel()
				facts := fineHost()
				if tt.change != nil {
					tt.change(&facts)
				}
				got, err := lifecycle.NextHost(tt.event, tt.from, facts)
				require.NoError(t, err)
				require.Equal(t, tt.row, got.Name)
				require.Equal(t, tt.to, got.To)
				require.Equal(t, tt.effect, got.Effect)
				if tt.says == "-" {
					require.Empty(t, got.StatusInfo)
				} else {
					require.Contains(t, got.StatusInfo, tt.says)
				}
			})
		}
	}
	for _, r := range append(lifecycle.HostTable(), lifecycle.PoolTable()...) {
		require.True(t, seen[r.Name], "row %q needs a case", r.Name)
		require.True(t, r.No > 0 || r.Why != "", "a row of ours says why: %s", r.Name)
	}
}

func TestRefusedHostEventsNameTheState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		event  lifecycle.HostEvent
		from   model.HostStatus
		change func(*hf)
	}{
		{"installing a day-1 host alone", lifecycle.InstallHost, "known", nil},
		{"retrying a host that is being installed", lifecycle.RetryHost, "installing-in-progress", installing},
		{"retrying a host of an installation that ended", lifecycle.BeginAttempt, "cancelled", broken},
		{"failing a host that was reset", lifecycle.FailHost, "resetting", nil},
		{"resuming a host that failed by itself", lifecycle.ResumeHost, "error", nil},
		{"resetting a host without a cluster", lifecycle.ResetHost, "known-unbound", nil},
		{"cancelling before it began", lifecycle.CancelHost, "insufficient", nil},
		{"binding a bound host", lifecycle.BindHost, "known", nil},
		{"progress before it began", progress, "known", nil},
		{"progress of a failed host in the live image", progress, "error", all(retry, stage(model.StageWritingImageToDisk))},
		{"progress of a host that was given up", progress, "error", stage(model.StageDone)},
		{"an unknown event", "Explode", "known", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			facts := fineHost()
			if tt.change != nil {
				tt.change(&facts)
			}
			_, err := lifecycle.NextHost(tt.event, tt.from, facts)
			require.ErrorIs(t, err, model.ErrConflict)
			require.ErrorContains(t, err, string(tt.from))
		})
	}
}

func TestARebootHasTheTimeOfTwoBoots(t *testing.T) {
	t.Parallel()
	timeouts := lifecycle.DefaultTimeouts()
	require.Equal(t, 80*time.Minute, timeouts.Stage(model.StageRebooting, true))
	require.Equal(t, 80*time.Minute, timeouts.Stage(model.StageRebooting, false))
	old, err := lifecycle.ParseTimeouts(map[string]string{"HOST_STAGE_REBOOTING_TIMEOUT": "40m"})
	require.NoError(t, err)
	require.Equal(t, 40*time.Minute, old.Stage(model.StageRebooting, false))
	require.Equal(t, 80*time.Minute, old.Stage(model.StageRebooting, true))
}

// A day-2 host without DNS: what it waits for hangs on the failure, which comes first.
func TestFailuresComeBeforeWhatWaitsForThem(t *testing.T) {
	t.Parallel()
	const unknown, lookup = "Whether the cluster encrypts disks is not known yet", "lookup api.prod.corp.example: no such host"
	disks := model.ValidationResult{ID: "disk-encryption-requirements-satisfied", Status: "pending", Message: unknown}
	noDNS := model.ValidationResult{ID: "ignition-downloadable", Status: "failure", Message: lookup}
	later := model.ValidationResult{ID: "belongs-to-machine-cidr", Status: "pending", Message: "No machine network yet"}
	few := model.ValidationResult{ID: "has-min-cpu-cores", Status: "error", Message: "Found 1 CPU core"}
	for _, tt := range []struct {
		name    string
		results []model.ValidationResult
		info    string
	}{
		{
			"the hardware waits for the cluster",
			[]model.ValidationResult{later, disks, noDNS},
			"The host cannot be installed yet: " + lookup + "; " + unknown + "; No machine network yet",
		},
		{"the hardware waits alone", []model.ValidationResult{disks}, "The host cannot be installed yet: " + unknown},
		{
			"the hardware fails too",
			[]model.ValidationResult{disks, few, noDNS},
			"The hardware is not sufficient for any role: Found 1 CPU core; " + unknown,
		},
		{"the hardware passes", []model.ValidationResult{later, noDNS}, "The host cannot be installed: " + lookup + "; No machine network yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			facts := fineHost()
			facts.Conditions = lifecycle.HostConditionsOf(tt.results)
			got, err := lifecycle.NextHost(refresh, "known", facts)
			require.NoError(t, err)
			require.Equal(t, model.HostStatus("insufficient"), got.To)
			require.Equal(t, tt.info, got.StatusInfo)
		})
	}
}
