package activities

import (
	"context"
	"fmt"
	"reflect"

	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// answeredEarly reports whether a host has answered a check while its step was being armed. Replies to checks count whatever
// their id, so that a host may report before it is asked. A failure counts only when it was reported after before was read:
// an older one is the reason to ask again.
func (a *Steps) answeredEarly(ctx context.Context, step wire.StepType, c *model.Cluster, before, h *model.Host) (bool, error) {
	if row, _ := steps.Of(step); !row.Check {
		return false, nil
	}
	args, err := a.Builder.StepArgs(ctx, string(step), c, h)
	if err != nil {
		return false, nonRetryable(err)
	}
	if args == nil {
		return true, nil
	}
	if problem := failedMeanwhile(step, before, h); problem != "" {
		return false, temporal.NewNonRetryableApplicationError(problem, FailureStep, nil)
	}
	return false, nil
}

// failedMeanwhile says how a check failed that was reported between two reads of its host; empty for none.
func failedMeanwhile(step wire.StepType, before, after *model.Host) string {
	switch step {
	case wire.StepTypeContainerImageAvailability:
		if reflect.DeepEqual(before.Images, after.Images) {
			return ""
		}
		for i := range after.Images {
			if model.ImageFailed(&after.Images[i]) {
				return "image could not be pulled: " + after.Images[i].Name
			}
		}
	case wire.StepTypeInstallationDiskSpeedCheck:
		disk := after.InstallationDiskPath
		if speed := after.DiskSpeed[disk]; speed != before.DiskSpeed[disk] && speed.Tested && speed.ExitCode != 0 {
			return fmt.Sprintf("the speed check of %s ended with exit code %d", disk, speed.ExitCode)
		}
	}
	return ""
}
