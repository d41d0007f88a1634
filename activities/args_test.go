package activities_test

import (
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/steps"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestOnlyStepsThatNameOtherHostsReadThem(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	other, err := x.store.RegisterHost(t.Context(), x.ref.InfraEnvID, uuid.New(), func() *model.Host {
		return &model.Host{
			ClusterID: &x.ref.ClusterID, Kind: model.KindHost, Status: model.HostInstalling, Role: model.RoleMaster,
			AgentSteps: model.FineSteps,
		}
	}, func(h *model.Host, _ bool, _ *store.Tx) error {
		h.Inventory = &wire.Inventory{Interfaces: []wire.Interface{{Name: "eth0", Ipv4Addresses: []string{"192.0.2.7/24"}}}}
		return nil
	})
	require.NoError(t, err)
	require.NotNil(t, other.Inventory)
	c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	bootstrap := *x.host
	bootstrap.Bootstrap = true
	args := &activities.StepArgs{
		Store: x.store, CheckClusterVersion: true, Disabled: []string{"installation-disk-speed-check", "stop-installation"},
	}

	speed, err := args.StepArgs(t.Context(), string(wire.StepTypeInstallationDiskSpeedCheck), c, &bootstrap)
	require.NoError(t, err)
	require.Nil(t, speed, "a check that is disabled is skipped")

	logs, err := args.StepArgs(t.Context(), string(wire.StepTypeLogsGather), c, &bootstrap)
	require.NoError(t, err)
	require.Contains(t, logs[0], `"master_ips":["192.0.2.7"]`)

	stop, err := args.StepArgs(t.Context(), string(wire.StepTypeStopInstallation), c, &bootstrap)
	require.NoError(t, err)
	require.Equal(t, []string{}, stop)
}

func TestHostsThatRunFromADiskGetTheOperatingSystemOfTheRelease(t *testing.T) {
	t.Parallel()
	for _, component := range []string{"rhel-coreos", "stream-coreos", "fedora-coreos"} {
		x := newScene(t)
		c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
		require.NoError(t, err)
		c.ReleaseImage = "quay.io/release@sha256:1"
		c.ReleaseComponents = map[string]string{"machine-config-operator": "quay.io/mco@sha256:2", component: "quay.io/os@sha256:4"}
		host := *x.host
		host.Role, host.InstallationDiskPath, host.AgentSteps = model.RoleMaster, "/dev/sda", model.FineSteps
		host.Inventory = &wire.Inventory{Boot: wire.Boot{DeviceType: wire.Persistent}}
		args := &activities.StepArgs{Store: x.store}
		got, err := args.StepArgs(t.Context(), string(steps.ImageWrite), c, &host)
		require.NoError(t, err)
		require.Contains(t, got[0], `"coreos_image":"quay.io/os@sha256:4"`)
		c.ReleaseImage, c.ReleaseComponents = "", nil // nothing is known of the release of an imported cluster
		_, err = args.StepArgs(t.Context(), string(steps.ImageWrite), c, &host)
		require.ErrorIs(t, err, model.ErrInvalid)
	}
}

// The worker's configuration says what the nodes of a cluster run, whatever the service knows of its release.
func TestAHostThatJoinsFromItsDiskRunsWhatTheWorkersRun(t *testing.T) {
	t.Parallel()
	const workers = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/ignition-machine-config-encapsulated.json",` +
		`"contents":{"source":"data:,%7B%22spec%22%3A%7B%22osImageURL%22%3A%22quay.io%2Fos%40sha256%3A7%22%7D%7D"}}]}}`
	for name, components := range map[string]map[string]string{
		"without a release":      nil,
		"with one that is older": {"rhel-coreos": "quay.io/os@sha256:4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newScene(t)
			c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
			require.NoError(t, err)
			c.Kind, c.OpenShiftVersion, c.ReleaseImage, c.ReleaseComponents = model.KindAddHostsCluster, "", "", components
			host := *x.host
			host.Kind, host.Role, host.InstallationDiskPath = model.KindAddToExistingClusterHost, model.RoleWorker, "/dev/sda"
			host.Inventory = &wire.Inventory{Boot: wire.Boot{DeviceType: wire.Persistent}}
			host.IgnitionDownload = &wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: validation.Essence(workers)}
			got, err := (&activities.StepArgs{Store: x.store}).StepArgs(t.Context(), string(wire.StepTypeInstall), c, &host)
			require.NoError(t, err)
			require.Contains(t, got[0], `"coreos_image":"quay.io/os@sha256:7"`)
		})
	}
}

func TestImagesOfMustGatherAreThoseOfTheSetting(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	c.OpenShiftVersion, c.CPUArchitecture, c.ReleaseImage = "4.20.33", "x86_64", "quay.io/release@sha256:1"
	c.ReleaseComponents = map[string]string{"must-gather": "quay.io/gather@sha256:2", "cli": "quay.io/cli@sha256:3"}
	host := *x.host
	host.Bootstrap, host.Role, host.InstallationDiskPath = true, model.RoleMaster, "/dev/sda"
	of := func(version, operator string) openshift.MustGatherImages {
		return openshift.MustGatherImages{version + "-x86_64": {operator: "r.example.com/gather:1"}}
	}
	const released = `"must_gather_image":"quay.io/gather@sha256:2"`
	for name, try := range map[string]struct {
		images openshift.MustGatherImages
		want   string
	}{
		"the release's alone":    {nil, released},
		"none of other versions": {of("4.19", "odf"), released},
		"an operator's beside it": {
			of("4.20", "odf"), `"must_gather_image":"{\"ocp\":\"quay.io/gather@sha256:2\",\"odf\":\"r.example.com/gather:1\"}"`,
		},
		"another one instead": {of("4.20", "ocp"), `"must_gather_image":"r.example.com/gather:1"`},
	} {
		args := &activities.StepArgs{Store: x.store, MustGatherImages: try.images}
		got, err := args.StepArgs(t.Context(), string(wire.StepTypeInstall), c, &host)
		require.NoError(t, err, name)
		require.Contains(t, got[0], try.want, name)
	}
}

func TestNoImageIsNamedThatNobodyOwns(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	c.ReleaseImage = "quay.io/release@sha256:1"
	c.ReleaseComponents = map[string]string{"machine-config-operator": "quay.io/mco@sha256:2", "cli": "quay.io/cli@sha256:3"}
	ours, foreign := *x.host, *x.host
	for _, h := range []*model.Host{&ours, &foreign} {
		h.Bootstrap, h.Role, h.InstallationDiskPath = true, model.RoleMaster, "/dev/sda"
	}
	ours.AgentSteps, foreign.AgentSteps = model.FineSteps, ""
	programs := func() (map[string]wire.AgentProgram, error) {
		return map[string]wire.AgentProgram{"x86_64": {Path: "/controller/c", SHA256: "abc"}}, nil
	}
	for name, try := range map[string]struct {
		host  *model.Host
		args  activities.StepArgs
		step  wire.StepType
		wants []string
	}{
		"ours runs the controller in an image of the release": {&ours, activities.StepArgs{}, steps.BootstrapStart, []string{
			`"controller_image":"quay.io/cli@sha256:3"`, `"installer_image":""`, `"controller":{"image":"quay.io/cli@sha256:3"`, `"sha256":"abc"`,
		}},
		"ours runs the image of the deployment": {
			&ours,
			activities.StepArgs{ControllerImage: "r.example.com/c@sha256:4"},
			steps.BootstrapStart,
			[]string{`"controller_image":"r.example.com/c@sha256:4"`},
		},
		"others get the images of their project": {&foreign, activities.StepArgs{}, wire.StepTypeInstall, []string{
			`"controller_image":"quay.io/edge-infrastructure/assisted-installer-controller:latest"`,
			`"installer_image":"quay.io/edge-infrastructure/assisted-installer:latest"`,
		}},
	} {
		try.args.Store, try.args.ControllerPrograms = x.store, programs
		got, err := try.args.StepArgs(t.Context(), string(try.step), c, try.host)
		require.NoError(t, err, name)
		for _, want := range try.wants {
			require.Contains(t, got[0], want, name)
		}
		require.NotContains(t, got[0], `"slipway/`, name)
	}
}
