package steps_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// roles returns the lists of stages by their name in the documentation.
func roles() map[string][]steps.Stage {
	return map[string][]steps.Stage{
		"bootstrap":   steps.Stages(model.RoleMaster, true, false),
		"master":      steps.Stages(model.RoleMaster, false, false),
		"worker":      steps.Stages(model.RoleWorker, false, false),
		"single node": steps.Stages(model.RoleMaster, true, true),
		"day-2":       steps.DayTwoStages(),
	}
}

func TestEveryStepIsOneRow(t *testing.T) {
	t.Parallel()
	seen := map[wire.StepType]bool{}
	for _, s := range steps.All() {
		require.False(t, seen[s.Type], "%s has two rows", s.Type)
		seen[s.Type] = true
		require.NotEmpty(t, s.Does, s.Type)
		if s.Agents != steps.OtherAgents {
			require.Positive(t, s.Timeout, s.Type)
		}
		if s.WritesDisk {
			require.True(t, s.ChangesHost, s.Type)
		}
	}
	_, known := steps.Of("no-such-step")
	require.False(t, known)
}

func TestStagesRunStepsOfOurAgentAndLeaveNoneOut(t *testing.T) {
	t.Parallel()
	run := map[wire.StepType]bool{}
	for role, stages := range roles() {
		for _, stage := range stages {
			require.Equal(t, stage.Ends == steps.BySteps, len(stage.Steps) > 0, "%s: %s", role, stage.Name)
			for _, step := range stage.Steps {
				row, known := steps.Of(step)
				require.True(t, known, step)
				require.Equal(t, steps.OurAgent, row.Agents, step)
				require.Equal(t, steps.ArgumentInstall, row.Argument, step)
				run[step] = true
			}
		}
	}
	for _, s := range steps.All() {
		require.Equal(t, s.Agents == steps.OurAgent && s.Argument == steps.ArgumentInstall, run[s.Type], s.Type)
	}
}

func TestHostsLeaveTheLiveImageWithTheirReboot(t *testing.T) {
	t.Parallel()
	for role, stages := range roles() {
		rebooting := slices.IndexFunc(stages, func(s steps.Stage) bool { return s.Name == model.StageRebooting })
		require.NotEqual(t, -1, rebooting, role)
		for i, stage := range stages {
			require.Equal(t, i >= rebooting, stage.Name.LeftLiveImage(), "%s: %s", role, stage.Name)
			require.Equal(t, i > rebooting, stage.AfterReboot(), "%s: %s", role, stage.Name)
		}
	}
}

func TestStagesOfAllRolesAreInOrder(t *testing.T) {
	t.Parallel()
	all := steps.AllStages()
	require.Equal(t, []model.Stage{
		model.StageStartingInstallation, model.StageInstalling, model.StageWritingImageToDisk, model.StageCopyingRegistryData,
		model.StageWaitingForControlPlane, model.StageWaitingForBootkube, model.StageWaitingForController, model.StageRebooting,
		model.StageWaitingForIgnition, model.StageConfiguring, model.StageJoined, model.StageDone,
	}, all)
	for role, stages := range roles() {
		last := -1
		for _, stage := range stages {
			at := slices.Index(all, stage.Name)
			require.Equal(t, stage.Ends == steps.ByChecks, at < 0, "%s: %s", role, stage.Name)
			require.True(t, at > last || at < 0 || role == "single node", "%s: %s", role, stage.Name)
			last = max(last, at)
		}
	}
	for _, stage := range append(all, model.StageFailed) {
		require.True(t, steps.Reportable(stage), stage)
		require.True(t, wire.HostStage(stage).Valid(), "api/openapi.yaml has no stage %s", stage)
	}
	require.False(t, steps.Reportable("Preparing"))
	require.Nil(t, steps.StagesFor(model.RoleAutoAssign, false, false), "nothing is known of a host without a role")
}

func TestOneInstallStepCoversWhatComesBeforeTheReboot(t *testing.T) {
	t.Parallel()
	for role, stages := range roles() {
		names := []model.Stage{}
		for _, stage := range steps.InOneStep(stages) {
			names = append(names, stage.Name)
			require.Equal(t, stage.Name == model.StageRebooting, stage.Ends == steps.ByInstallStep, role)
		}
		require.Contains(t, names, model.StageRebooting, role)
		require.NotContains(t, names, model.StageInstalling, role)
	}
	require.Equal(t, steps.ByChecks, steps.InOneStep(steps.DayTwoStages())[0].Ends)
}

func TestAgentsOfOthersReportTheStagesOfV2(t *testing.T) {
	t.Parallel()
	ours := steps.Stage{Name: "Verifying image", Change: "verify-image"}
	for role, stages := range roles() {
		require.Equal(t, steps.OfV2(stages), steps.OfV2(append([]steps.Stage{ours}, stages...)), role)
		for _, stage := range steps.OfV2(stages) {
			require.Empty(t, stage.Change, "%s: %s", role, stage.Name)
		}
	}
}
