package discovery_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestMalformedRepliesAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]wire.StepReply{
		"inventory that is no JSON":                {StepType: wire.StepTypeInventory, Output: "{"},
		"inventory with a list for a number":       {StepType: wire.StepTypeInventory, Output: `{"cpu":{"count":[]}}`},
		"inventory without output":                 {StepType: wire.StepTypeInventory},
		"null for an inventory":                    {StepType: wire.StepTypeInventory, Output: "null"},
		"two inventories":                          {StepType: wire.StepTypeInventory, Output: "{} {}"},
		"connectivity report with a bad host id":   {StepType: wire.StepTypeConnectivityCheck, Output: `{"remote_hosts":[{"host_id":"x"}]}`},
		"list of free addresses that is an object": {StepType: wire.StepTypeFreeNetworkAddresses, Output: `{}`},
		"NTP answer that is a list":                {StepType: wire.StepTypeNtpSynchronizer, Output: `[]`},
		"resolutions that are text":                {StepType: wire.StepTypeDomainResolution, Output: `{"resolutions":"none"}`},
		"verification of something else": {
			StepType: wire.StepTypeVerifyVips, Output: `[{"vip":"nowhere","vip_type":"api","verification":"succeeded"}]`,
		},
		"unknown verification": {
			StepType: wire.StepTypeVerifyVips, Output: `[{"vip":"192.0.2.2","vip_type":"api","verification":"perhaps"}]`,
		},
		"disk speed that is text": {StepType: wire.StepTypeInstallationDiskSpeedCheck, Output: `{"io_sync_duration":"fast"}`},
		"image with an unknown result": {
			StepType: wire.StepTypeContainerImageAvailability, Output: `{"images":[{"name":"a","result":"maybe"}]}`,
		},
		"unknown step": {StepType: "make-coffee", Output: "{}"},
	}
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	before := m.read(t)
	for name, reply := range tests {
		t.Run(name, func(t *testing.T) {
			reply.StepID = string(reply.StepType) + "-0badf00d"
			require.ErrorIs(t, m.reply(t, reply), model.ErrInvalid)
			require.Equal(t, before, m.read(t))
		})
	}
	require.Equal(t, model.ClusterInsufficient, l.readCluster(t, c.ID).Status)
}

func TestLateRepliesAndRepliesToOtherQuestionsAreTaken(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.poll(t)
	m.cpus = 12
	inventory, err := json.Marshal(m.inventory())
	require.NoError(t, err)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-00000000", Output: string(inventory)}))
	h := m.read(t)
	require.Equal(t, 12, h.Inventory.CPU.Count)
	require.False(t, h.Facts["inventory"].AnsweredAt.IsZero())

	m.set(t, func(h *model.Host) { h.Status = model.HostInstalling })
	m.cpus = 2
	inventory, err = json.Marshal(m.inventory())
	require.NoError(t, err)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-00000000", Output: string(inventory)}))
	require.Equal(t, 12, m.read(t).Inventory.CPU.Count, "an installation is not changed under way")
	require.ErrorIs(t,
		l.service.Reply(t.Context(), env.ID, uuid.New(), wire.StepReply{StepType: wire.StepTypeStopInstallation}),
		model.ErrNotFound)
}

func TestNULInAnInventoryIsLeftOut(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	require.NoError(t, m.reply(t, wire.StepReply{
		StepType: wire.StepTypeInventory, Output: `{"hostname":"a\u0000b","system_vendor":{"serial_number":"c\\u0000"}}`,
	}))
	h := m.read(t)
	require.Equal(t, "ab", h.Inventory.Hostname)
	require.Equal(t, `c\u0000`, h.Inventory.SystemVendor.SerialNumber, "an escaped backslash is no NUL")
}

func TestRepliesToAWorkflow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		step  wire.StepType
		reply wire.StepReply
		state model.ActivityState
		exit  int
		error string
	}{
		"success": {
			steps.ImageWrite, wire.StepReply{Output: `{"device":"/dev/sda"}`}, model.ActivityReported, 0, "",
		},
		"failure": {
			steps.ImageWrite, wire.StepReply{ExitCode: 5, Error: "disk full"}, model.ActivityReported, 5, "disk full",
		},
		"the install step of a v2 agent": {wire.StepTypeInstall, wire.StepReply{Output: "done"}, model.ActivityReported, 0, ""},
		"the same install step again": {
			wire.StepTypeInstall,
			wire.StepReply{ExitCode: 125, Error: `the container name "assisted-installer" is already in use`},
			model.ActivityPending, 0, "",
		},
		"another install failure": {
			wire.StepTypeInstall,
			wire.StepReply{ExitCode: 125, Error: "no such image"},
			model.ActivityReported, 125,
			"no such image",
		},
		"disk speed": {
			wire.StepTypeInstallationDiskSpeedCheck,
			wire.StepReply{Output: `{"io_sync_duration":3,"path":"/dev/sda"}`},
			model.ActivityReported, 0, "",
		},
		"disk speed while a check runs": {wire.StepTypeInstallationDiskSpeedCheck, wire.StepReply{}, model.ActivityPending, 0, ""},
		"images while a pull runs":      {wire.StepTypeContainerImageAvailability, wire.StepReply{}, model.ActivityPending, 0, ""},
		"disk speed that cannot be read": {
			wire.StepTypeInstallationDiskSpeedCheck, wire.StepReply{Output: "{"}, model.ActivityReported, -1, "format",
		},
		"media that is gone": {
			steps.ImageWrite,
			wire.StepReply{ExitCode: 256, Error: "cannot read from the media"},
			model.ActivityReported,
			256, "cannot read from the media",
		},
		"interruption by an agent's restart": {
			steps.ImageWrite,
			wire.StepReply{ExitCode: wire.ExitInterrupted, Error: "interrupted: agent restarted"},
			model.ActivityReported, 75, "interrupted: agent restarted",
		},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.installing(t, c, "")
			m.arm(t, c, string(test.step), "step-1")
			test.reply.StepType, test.reply.StepID = test.step, "step-1-"+m.id.String()
			err := m.reply(t, test.reply)
			if test.exit == -1 {
				require.ErrorIs(t, err, model.ErrInvalid)
			} else {
				require.NoError(t, err)
			}
			i := m.activity(t, c, "step-1")
			require.Equal(t, test.state, i.State)
			require.Equal(t, test.exit, i.ExitCode)
			require.Contains(t, i.Error, test.error)

			require.NoError(t,
				m.reply(t, wire.StepReply{StepType: steps.ImageWrite, StepID: test.reply.StepID, ExitCode: 99}),
				"a second result is accepted")
			if test.state == model.ActivityReported {
				require.Equal(t, test.exit, m.activity(t, c, "step-1").ExitCode, "and changes nothing")
			}
		})
	}
}

// The existing service looks at the type of a reply alone; simulators of hosts make ids up.
func TestRepliesToChecksCountWhateverTheirIDIs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	m.set(t, func(h *model.Host) { h.Status, h.AgentSteps = model.HostPreparingForInstallation, model.InstallStep })
	speed, install := wire.StepTypeInstallationDiskSpeedCheck, wire.StepTypeInstall

	m.arm(t, c, string(speed), "speed")
	disk := m.read(t).InstallationDiskPath
	byID := m.read(t).InstallationDiskID
	require.NotEqual(t, disk, byID)
	output := fmt.Sprintf(`{"io_sync_duration":3,"path":%q}`, byID)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: speed, StepID: "made-up", Output: output}))
	require.Equal(t, model.ActivityReported, m.activity(t, c, "speed").State)
	require.Equal(t, model.DiskSpeed{Tested: true, SyncDurationMS: 3}, m.read(t).DiskSpeed[disk], "its disk has another name here")

	m.arm(t, c, string(speed), "again")
	require.NoError(t, m.reply(t, wire.StepReply{StepType: speed, StepID: "speed-" + m.id.String(), ExitCode: 1}))
	require.Equal(t, model.ActivityPending, m.activity(t, c, "again").State, "a late reply to a step that is over counts for no other")

	m.set(t, func(h *model.Host) { h.Status = model.HostInstalling })
	m.arm(t, c, string(install), "install")
	require.NoError(t, m.reply(t, wire.StepReply{StepType: install, StepID: "made-up"}))
	require.Equal(t, model.ActivityPending, m.activity(t, c, "install").State, "stages say that it succeeded")
	require.NoError(t, m.reply(t, wire.StepReply{StepType: install, StepID: "made-up", ExitCode: 1, Error: "I/O error"}))
	require.Equal(t, model.ActivityReported, m.activity(t, c, "install").State)
	require.Equal(t, "I/O error", m.activity(t, c, "install").Error)
}

func TestChecksBeforeAnInstallationAreStored(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	m.set(t, func(h *model.Host) { h.Status = model.HostPreparingForInstallation })

	speed := wire.StepTypeInstallationDiskSpeedCheck
	require.NoError(t, m.reply(t, wire.StepReply{StepType: speed, Output: `{"io_sync_duration":30,"path":"/dev/sda"}`}))
	require.Equal(t, model.DiskSpeed{Tested: true, SyncDurationMS: 30}, m.read(t).DiskSpeed["/dev/sda"])
	require.Equal(t, 1, l.events(t, c.ID)["disk_speed_slower_than_supported"])
	require.NoError(t, m.reply(t, wire.StepReply{StepType: speed, ExitCode: 124, Error: "timed out"}))
	require.Equal(t, model.DiskSpeed{Tested: true, ExitCode: 124}, m.read(t).DiskSpeed["/dev/sda"],
		"a failed check is of the installation disk")

	images := wire.StepTypeContainerImageAvailability
	require.NoError(t,
		m.reply(t,
			wire.StepReply{StepType: images, Output: `{"images":[{"name":"a","result":"success","size_bytes":1000,"time":1,"download_rate":10}]}`}))
	require.NoError(t,
		m.reply(t,
			wire.StepReply{StepType: images, ExitCode: 2, Output: `{"images":[{"name":"a","result":"success"},{"name":"b","result":"failure"}]}`}))
	got := m.read(t).Images
	require.Len(t, got, 2)
	require.InDelta(t, 1000, got[0].SizeBytes, 0, "what the first pull told stays")
	require.Equal(t, wire.ContainerImageAvailabilityResultFailure, got[1].Result)
	require.Equal(t, 2, l.events(t, c.ID)["image_status_updated"])
}

func TestVirtualAddressesAreVerifiedUntilTheyAreUsed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	reply := func(verification string) wire.StepReply {
		return wire.StepReply{StepType: wire.StepTypeVerifyVips, Output: `[` +
			`{"vip":"192.0.2.2","vip_type":"api","verification":"` + verification + `"},` +
			`{"vip":"192.0.2.3","vip_type":"ingress","verification":"succeeded"},` +
			`{"vip":"192.0.2.99","vip_type":"api","verification":"failed"}]`}
	}
	require.NoError(t, m.reply(t, reply("succeeded")))
	got := l.readCluster(t, c.ID)
	require.Equal(t, "succeeded", got.APIVIPs[0].Verification)
	require.Equal(t, "succeeded", got.IngressVIPs[0].Verification)
	require.NoError(t, m.reply(t, reply("failed")))
	require.Equal(t, "failed", l.readCluster(t, c.ID).APIVIPs[0].Verification)

	l.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	require.NoError(t, m.reply(t, reply("succeeded")))
	require.Equal(t, "failed", l.readCluster(t, c.ID).APIVIPs[0].Verification)
}

func TestDuplicateHostnamesHoldBothHostsUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(t)
	c, env := l.cluster(t)
	a, b := l.machine(env, 0), l.machine(env, 1)
	b.hostname = a.hostname
	third := l.machine(env, 2)
	for _, m := range []*machine{a, b, third} {
		m.boot(t)
	}
	third.reaches(t, model.HostKnown)
	for _, m := range []*machine{a, b} {
		m.reaches(t, model.HostInsufficient)
		eventually(t, func() bool { return m.validation(t, "hostname-unique").Status == model.ValidationFailure },
			"the names did not clash", func() any { return m.read(t).Validations })
	}
	_, err := l.store.UpdateHost(t.Context(), b.infraEnv, b.id, renamed("host-1"))
	require.NoError(t, err)
	l.reaches(t, c.ID, model.ClusterReady)
	require.Equal(t, model.HostKnown, a.read(t).Status)
	require.GreaterOrEqual(t, l.events(t, c.ID)["host_validation_fixed"], 2)
}

func TestContainerOfAFailedInstallationFailsTheNextStep(t *testing.T) {
	t.Parallel()
	// The answer of an agent of openshift/assisted-installer-agent: podman's text and exit code for a name that is taken.
	taken := wire.StepReply{
		StepType: wire.StepTypeInstall, ExitCode: 125,
		Error: `Error: creating container storage: the container name "assisted-installer" is already in use`,
	}
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, "")
	m.arm(t, c, "install", "step-1")
	failed := wire.StepReply{StepType: wire.StepTypeInstall, StepID: "step-1-" + m.id.String(), ExitCode: 1, Error: "Input/output error"}
	require.NoError(t, m.reply(t, failed))
	m.arm(t, c, "install", "step-2")
	taken.StepID = "step-2-" + m.id.String()
	require.NoError(t, m.reply(t, taken))
	again := m.activity(t, c, "step-2")
	require.Equal(t, model.ActivityReported, again.State)
	require.Equal(t, 125, again.ExitCode)
	require.Contains(t, again.Error, "boot the host from the discovery image, then retry")
	require.Contains(t, again.Error, "already in use")
}

func TestErrorOfAStepIsKeptWithoutTheSecretsItRepeats(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, "")
	m.arm(t, c, "install", "step-1")
	require.NoError(t, m.reply(t, wire.StepReply{
		StepType: wire.StepTypeInstall, StepID: "step-1-" + m.id.String(), ExitCode: 1,
		Error: `pull failed: {"auths":{"quay.io":{"auth":"cm9ib3Q6YzRuYXJ5"}}}: proxy http://user:c4nary@192.0.2.9`,
	}))
	require.Equal(t, `pull failed: {"auths":{"quay.io":{"auth":"[redacted]"}}}: proxy http://user:[redacted]@192.0.2.9`,
		m.activity(t, c, "step-1").Error)
}
