package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"slipway/internal/wire"
)

// spec says how steps of one type are run.
type spec struct {
	// run does the step and returns its output; a step may have both output and error.
	run func(ctx context.Context, args []string) (string, error)
	// then, when set, is done after the service has the reply of a step that succeeded.
	then func(ctx context.Context, args []string) error
	// calls, when set, says whether the output of such a step calls for then at all.
	calls func(output string) bool
	// limit is how many steps of the type run at once; more wait for their turn.
	limit   int
	timeout time.Duration
	// changes says that the step changes the host: stop-installation ends it, a newer one
	// replaces it, and its id is remembered as long as the boot lasts.
	changes bool
	// alone: while one runs, others are refused instead of replacing it. Services of other
	// makes command install anew, with another id, until they see it at work.
	alone bool
	// always: runs even if the boot medium is gone.
	always bool
}

// day is the limit of steps whose end is up to others; the workflow has its own.
const day = 24 * time.Hour

// stepSpecs lists all steps the agent can run.
func (a *Agent) stepSpecs() map[wire.StepType]spec {
	return map[wire.StepType]spec{
		wire.StepTypeInventory:                  {run: a.inventory, limit: 1, timeout: 5 * time.Minute},
		wire.StepTypeConnectivityCheck:          {run: taking(a.connectivityCheck), limit: 1, timeout: 15 * time.Minute},
		wire.StepTypeFreeNetworkAddresses:       {run: taking(a.freeAddresses), limit: 1, timeout: 15 * time.Minute},
		wire.StepTypeNtpSynchronizer:            {run: taking(a.ntpSynchronizer), limit: 1, timeout: 2 * time.Minute},
		wire.StepTypeDomainResolution:           {run: taking(a.domainResolution), limit: 1, timeout: 2 * time.Minute},
		wire.StepTypeVerifyVips:                 {run: taking(a.verifyVIPs), limit: 1, timeout: 2 * time.Minute},
		wire.StepTypeContainerImageAvailability: {run: taking(a.imageAvailability), limit: 1, timeout: time.Hour},
		wire.StepTypeInstallationDiskSpeedCheck: {run: a.diskSpeedCheck, limit: 1, timeout: 20 * time.Minute, changes: true},
		wire.StepTypeLogsGather:                 {run: taking(a.logsGather), limit: 1, timeout: time.Hour},
		wire.StepTypeAPIVipConnectivityCheck:    {run: taking(a.apiVIPConnectivity), limit: 1, timeout: 2 * time.Minute},
		wire.StepTypeUpgradeAgent:               {run: taking(a.upgradeAgent), then: a.becomeUpgraded, calls: upgraded, limit: 1, timeout: 20 * time.Minute, changes: true},
		wire.StepTypeTangConnectivityCheck:      {run: taking(a.tangConnectivity), limit: 1, timeout: 5 * time.Minute},
		wire.StepTypeDhcpLeaseAllocate:          {run: taking(a.leaseAllocation), limit: 1, timeout: 5 * time.Minute},
		wire.StepTypeStopInstallation:           {run: a.stopInstallation, limit: 1, timeout: 5 * time.Minute, always: true},

		wire.StepDiskClean:                 {run: taking(a.diskClean), limit: 1, timeout: 30 * time.Minute, changes: true},
		wire.StepBootstrapStart:            {run: taking(a.bootstrapStart), limit: 1, timeout: time.Hour, changes: true},
		wire.StepIgnitionFetch:             {run: taking(a.ignitionFetch), limit: 1, timeout: 30 * time.Minute, changes: true},
		wire.StepImageWrite:                {run: taking(a.imageWrite), limit: 1, timeout: 6 * time.Hour, changes: true},
		wire.StepControlPlaneWait:          {run: taking(a.controlPlaneWait), limit: 1, timeout: day, changes: true},
		wire.StepBootkubeWait:              {run: taking(a.bootkubeWait), limit: 1, timeout: day, changes: true},
		wire.StepControllerWait:            {run: taking(a.controllerWait), limit: 1, timeout: day, changes: true},
		wire.StepReboot:                    {run: taking(a.prepareReboot), then: a.reboot, limit: 1, timeout: 30 * time.Minute, changes: true},
		wire.StepTypeDownloadBootArtifacts: {run: taking(a.downloadBootArtifacts), limit: 1, timeout: time.Hour, changes: true, always: true},
		wire.StepTypeRebootForReclaim:      {run: taking(a.acceptReclaim), then: a.reclaim, limit: 1, timeout: time.Minute, changes: true, always: true},
		wire.StepTypeInstall:               {run: taking(a.install), limit: 1, timeout: day, changes: true, alone: true},
	}
}

// follows reports whether a reply leaves something to do.
func (s spec) follows(reply wire.StepReply) bool {
	return s.then != nil && reply.ExitCode == 0 && (s.calls == nil || s.calls(reply.Output))
}

// errTimedOut says that a step took longer than it may (exit code 124).
type errTimedOut struct{ limit time.Duration }

func (e errTimedOut) Error() string { return fmt.Sprintf("timed out after %s", e.limit) }

// partialError comes with an output: some of what was asked for failed.
type partialError struct {
	code int
	text string
}

func (e *partialError) Error() string { return e.text }

// nothing is the output of steps that have none.
type nothing struct{}

// taking makes a step of a function with a request and a response in JSON.
func taking[Request, Response any](do func(context.Context, *Request) (Response, error)) func(context.Context, []string) (string, error) {
	return func(ctx context.Context, args []string) (string, error) {
		request, err := argument[Request](args)
		if err != nil {
			return "", err
		}
		response, err := do(ctx, request)
		output, broken := json.Marshal(response)
		if broken != nil {
			return "", fmt.Errorf("write the output: %w", broken)
		}
		var partial *partialError
		if err != nil && !errors.As(err, &partial) {
			return "", err
		}
		return string(output), err
	}
}

// argument reads the one argument of a step.
func argument[Request any](args []string) (*Request, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("require 1 argument, found %d", len(args))
	}
	request := new(Request)
	if err := json.Unmarshal([]byte(args[0]), request); err != nil {
		return nil, fmt.Errorf("read the argument: %w", err)
	}
	return request, nil
}
