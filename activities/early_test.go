package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// hasty makes the arguments of checks; the host reports in the moment after they were made, before the step is armed.
type hasty struct {
	*scene
	t       *testing.T
	report  func(*model.Host)
	already bool
}

func (b *hasty) StepArgs(_ context.Context, stepType string, c *model.Cluster, h *model.Host) ([]string, error) {
	args, err := duesteps.Args(wire.StepType(stepType), duesteps.ArgsInput{
		Host: h, Cluster: c, Images: duesteps.Images{Controller: "quay.io/controller:1"},
	})
	if !b.already {
		b.already = true
		_, uerr := b.store.UpdateHost(b.t.Context(), b.ref.InfraEnvID, b.ref.HostID, func(h *model.Host, tx *store.Tx) error {
			b.report(h)
			tx.StepReplied(h, store.Reply{ByType: stepType})
			return nil
		})
		require.NoError(b.t, uerr)
	}
	if err != nil {
		require.ErrorIs(b.t, err, duesteps.ErrSkip)
		return nil, nil
	}
	return args, nil
}

func TestReportThatArrivesBeforeItsStepIsArmedIsNotWaitedForAgain(t *testing.T) {
	t.Parallel()
	const disk = "/dev/sda"
	image := func(result wire.ContainerImageAvailabilityResult) func(*model.Host) {
		return func(h *model.Host) {
			h.Images = []wire.ContainerImageAvailability{{Name: "quay.io/controller:1", Result: result, DownloadRate: 10, SizeBytes: 1e6}}
		}
	}
	speed := func(code int) func(*model.Host) {
		return func(h *model.Host) {
			h.DiskSpeed = map[string]model.DiskSpeed{disk: {Tested: true, ExitCode: code, SyncDurationMS: 1}}
		}
	}
	tests := map[string]struct {
		step   wire.StepType
		report func(*model.Host)
		fails  string
		waits  bool
	}{
		"images that could be pulled": {step: wire.StepTypeContainerImageAvailability, report: image("success")},
		"an image that could not": {
			step: wire.StepTypeContainerImageAvailability, report: image("failure"), fails: "quay.io/controller:1",
		},
		"a disk that is fast enough":      {step: wire.StepTypeInstallationDiskSpeedCheck, report: speed(0)},
		"a disk whose check failed":       {step: wire.StepTypeInstallationDiskSpeedCheck, report: speed(7), fails: "exit code 7"},
		"nothing about the check's facts": {step: wire.StepTypeContainerImageAvailability, report: func(*model.Host) {}, waits: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newScene(t)
			_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
				h.Status, h.InstallationDiskPath = model.HostPreparingForInstallation, disk
				h.Inventory = &wire.Inventory{Disks: []wire.Disk{{ByID: disk, Path: disk, Name: "sda"}}}
				return nil
			})
			require.NoError(t, err)
			x.steps.Builder = &hasty{scene: x, t: t, report: test.report}
			request := activities.StepRequest{HostRef: x.ref, Type: string(test.step)}
			_, err = x.run(x.steps.RunStep, request)
			rows, rerr := x.store.PendingActivities(t.Context(), x.ref.ClusterID)
			require.NoError(t, rerr)
			require.Len(t, rows, 1)
			switch {
			case test.waits:
				require.ErrorIs(t, err, activity.ErrResultPending)
				require.Equal(t, model.ActivityPending, rows[0].State)
				return
			case test.fails != "":
				var failed *temporal.ApplicationError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, activities.FailureStep, failed.Type())
				require.ErrorContains(t, err, test.fails)
			default:
				require.NoError(t, err)
			}
			require.Equal(t, model.ActivityDone, rows[0].State)
		})
	}
}
