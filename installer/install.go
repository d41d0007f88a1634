package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	// imageTries and imagePause are for the image of the install step (docs/reference/installer.md,
	// "Order of the stages").
	imageTries = 3
	imagePause = time.Second
	// keptOutput is how much of a command's error is sent to the service, in bytes.
	keptOutput = 200
	// stageLimit is how long the report of a stage is retried: clients that follow the installation by its
	// stages must not miss one because the service restarts.
	stageLimit = 10 * time.Minute
)

// Install runs all stages of the request in the order of docs/reference/installer.md,
// "Order of the stages" and reports them by PUT progress, as one install step of any v2
// agent does. It returns once the reboot is ordered; a failure has been reported as the
// stage Failed.
func (i *Installer) Install(ctx context.Context, req *wire.InstallCmdRequest) error {
	err := i.install(ctx, req)
	if err == nil || ctx.Err() != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageFailed, i.failure(err))
	return err
}

func (i *Installer) install(ctx context.Context, req *wire.InstallCmdRequest) error {
	if err := i.CheckRequest(req); err != nil {
		return err
	}
	stages := steps.Stages(finalRole(req), bootstrapHost(req), singleNode(req))
	if len(stages) == 0 {
		return fmt.Errorf("require the role bootstrap, master, arbiter or worker, found %q", req.Role)
	}
	for _, stage := range stages {
		if stage.Ends == steps.NotAwaited || stage.AfterReboot() {
			continue
		}
		if err := i.passStage(ctx, req, stage); err != nil {
			return err
		}
	}
	return i.Reboot(ctx, req)
}

// passStage reports a stage and does its work. The reboot is reported when nothing else is left to do.
func (i *Installer) passStage(ctx context.Context, req *wire.InstallCmdRequest, stage steps.Stage) error {
	shown := len(steps.OfV2([]steps.Stage{stage})) > 0
	if shown && stage.Name != model.StageRebooting {
		i.stage(ctx, req, wire.HostStage(stage.Name), stageInfo(req, stage.Name))
	}
	if stage.Ends == steps.ByControlPlane {
		return i.waitMasters(ctx, req)
	}
	for _, step := range stage.Steps {
		if err := i.runStep(ctx, req, step); err != nil {
			return err
		}
	}
	if shown && stage.Name == model.StageRebooting {
		i.stage(ctx, req, wire.HostStageRebooting, "")
	}
	return nil
}

// stageInfo returns what agents of the v2 API report with a stage.
func stageInfo(req *wire.InstallCmdRequest, stage model.Stage) string {
	switch {
	case stage == model.StageStartingInstallation:
		return string(req.Role)
	case stage == model.StageInstalling:
		return string(finalRole(req))
	case stage == model.StageWaitingForControlPlane && bootstrapHost(req):
		return "masters have to join the bootstrap control plane"
	}
	return ""
}

func (i *Installer) stage(ctx context.Context, req *wire.InstallCmdRequest, stage wire.HostStage, info string) {
	i.report(ctx, req, stage, info, client.WithRetry(stageLimit))
}

// runStep runs a step of the one install step. The image is tried three times at most.
func (i *Installer) runStep(ctx context.Context, req *wire.InstallCmdRequest, step wire.StepType) error {
	run, tries := i.Steps()[step], 1
	var err error
	if step == steps.ImageWrite {
		tries = imageTries
		if req, err = withUnsignedImage(req); err != nil {
			return err
		}
	}
	for try := range tries {
		if try > 0 {
			if err := i.Sleep(ctx, imagePause); err != nil {
				return fmt.Errorf("write the image again: %w", err)
			}
		}
		var output any
		if output, err = run(ctx, &wire.BootstrapRequest{InstallCmdRequest: *req}); err == nil || ctx.Err() != nil {
			i.warnings(ctx, req, output)
			return err
		}
		i.Log.Warn("step failed", "step", step, "try", try+1, "error", err)
	}
	return err
}

// withUnsignedImage lets an image that the arguments name have no signature, as installers of openshift/assisted-installer do: users of
// other services cannot say it.
func withUnsignedImage(req *wire.InstallCmdRequest) (*wire.InstallCmdRequest, error) {
	args, err := installerArgs(req)
	if err != nil || !model.NamesImage(args) || slices.Contains(args, model.Unsigned) {
		return req, err
	}
	text, err := json.Marshal(append(args, model.Unsigned))
	if err != nil {
		return nil, fmt.Errorf("write the installer arguments: %w", err)
	}
	changed := *req
	changed.InstallerArgs = string(text)
	return &changed, nil
}

// warnings reports what of the disk could not be cleaned.
func (i *Installer) warnings(ctx context.Context, req *wire.InstallCmdRequest, output any) {
	if cleaned, is := output.(CleanReport); is && len(cleaned.Warnings) > 0 {
		i.stage(ctx, req, wire.HostStageStartingInstallation, "The installation continues: "+strings.Join(cleaned.Warnings, "; "))
	}
}

// waitMasters lets a worker continue once the control plane can serve its configuration: two masters are done,
// or the cluster exists already.
func (i *Installer) waitMasters(ctx context.Context, req *wire.InstallCmdRequest) error {
	for {
		if i.mastersDone(ctx, req) {
			return nil
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for the control plane: %w", err)
		}
	}
}

func (i *Installer) mastersDone(ctx context.Context, req *wire.InstallCmdRequest) bool {
	cluster, err := i.Client.ClusterWithoutHosts(ctx, req.ClusterID)
	if err == nil && string(cluster.Kind) == string(model.KindAddHostsCluster) {
		return true
	}
	done := 0
	for _, role := range []model.Role{model.RoleMaster, model.RoleArbiter} {
		hosts, err := i.Client.ClusterHosts(ctx, req.ClusterID, wire.HostRole(role))
		if err != nil {
			return false
		}
		for _, host := range hosts {
			if host.Progress.CurrentStage == wire.HostStageDone {
				done++
			}
		}
	}
	return done >= enoughMasters
}

// failure returns the text of the stage Failed: the command, its exit status and the end of its output,
// without secrets.
func (i *Installer) failure(err error) string {
	text := err.Error()
	var exit *hostexec.ExitError
	if errors.As(err, &exit) {
		said := strings.TrimSpace(exit.Stderr)
		// Mask before cutting: half a secret would not be recognised as one.
		said = i.redactor().Replace(said)
		text = fmt.Sprintf("%s: exit status %d: %s", exit.Cmd, exit.Code, said[max(0, len(said)-keptOutput):])
	}
	return i.redactor().Replace(text)
}
