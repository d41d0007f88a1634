package installer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"slipway/internal/client"
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
	i.stage(ctx, req, wire.HostStageStartingInstallation, string(req.Role))
	cleaned, err := i.CleanDisk(ctx, req)
	if err != nil {
		return err
	}
	if len(cleaned.Warnings) > 0 {
		i.stage(ctx, req, wire.HostStageStartingInstallation, "The installation continues: "+strings.Join(cleaned.Warnings, "; "))
	}
	switch {
	case singleNode(req):
		err = i.installSingleNode(ctx, req)
	case bootstrapHost(req):
		err = i.installBootstrap(ctx, req)
	default:
		err = i.installOther(ctx, req)
	}
	if err != nil {
		return err
	}
	if err := i.PrepareReboot(ctx, req); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageRebooting, "")
	return i.Reboot(ctx, req)
}

func (i *Installer) stage(ctx context.Context, req *wire.InstallCmdRequest, stage wire.HostStage, info string) {
	i.report(ctx, req, stage, info, client.WithRetry(stageLimit))
}

func (i *Installer) installSingleNode(ctx context.Context, req *wire.InstallCmdRequest) error {
	i.stage(ctx, req, wire.HostStageInstalling, string(model.RoleMaster))
	if err := i.StartBootstrap(ctx, &wire.BootstrapRequest{InstallCmdRequest: *req}); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageWaitingForBootkube, "")
	if err := i.WaitBootkube(ctx, req); err != nil {
		return err
	}
	return i.installImage(ctx, req)
}

func (i *Installer) installBootstrap(ctx context.Context, req *wire.InstallCmdRequest) error {
	if err := i.StartBootstrap(ctx, &wire.BootstrapRequest{InstallCmdRequest: *req}); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageInstalling, string(model.RoleMaster))
	if err := i.installImage(ctx, req); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageWaitingForControlPlane, "masters have to join the bootstrap control plane")
	if _, err := i.WaitControlPlane(ctx, req); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageWaitingForBootkube, "")
	if err := i.WaitBootkube(ctx, req); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageWaitingForController, "")
	return i.WaitController(ctx, req)
}

func (i *Installer) installOther(ctx context.Context, req *wire.InstallCmdRequest) error {
	i.stage(ctx, req, wire.HostStageInstalling, string(req.Role))
	if err := i.installImage(ctx, req); err != nil {
		return err
	}
	if finalRole(req) != model.RoleWorker {
		return nil
	}
	i.stage(ctx, req, wire.HostStageWaitingForControlPlane, "")
	return i.waitMasters(ctx, req)
}

// installImage fetches the Ignition and writes the image, three times at most.
func (i *Installer) installImage(ctx context.Context, req *wire.InstallCmdRequest) error {
	if _, err := i.FetchIgnition(ctx, req); err != nil {
		return err
	}
	i.stage(ctx, req, wire.HostStageWritingImageToDisk, "")
	var err error
	for try := range imageTries {
		if try > 0 {
			if err := i.Sleep(ctx, imagePause); err != nil {
				return fmt.Errorf("write the image again: %w", err)
			}
		}
		if _, err = i.WriteImage(ctx, req); err == nil || ctx.Err() != nil {
			return err
		}
		i.Log.Warn("image not written", "try", try+1, "error", err)
	}
	return err
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
