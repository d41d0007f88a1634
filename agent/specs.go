package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// spec is how this agent runs a step of the catalogue.
type spec struct {
	steps.Step // filled in by stepSpecs
	// run does the step and returns its output; a step may have both output and error.
	run func(ctx context.Context, args []string) (string, error)
	// then, when set, runs after the service has the reply of a step that succeeded.
	then func(ctx context.Context, args []string) error
	// needsThen, when set, reports whether the output of such a step requires then.
	needsThen func(output string) bool
}

// stepSpecs lists all steps the agent can run.
func (a *Agent) stepSpecs() map[wire.StepType]spec {
	specs := map[wire.StepType]spec{
		wire.StepTypeInventory:                  {run: a.inventory},
		wire.StepTypeConnectivityCheck:          {run: taking(a.connectivityCheck)},
		wire.StepTypeFreeNetworkAddresses:       {run: taking(a.freeAddresses)},
		wire.StepTypeNtpSynchronizer:            {run: taking(a.ntpSynchronizer)},
		wire.StepTypeDomainResolution:           {run: taking(a.domainResolution)},
		wire.StepTypeVerifyVips:                 {run: taking(a.verifyVIPs)},
		wire.StepTypeContainerImageAvailability: {run: taking(a.imageAvailability)},
		wire.StepTypeInstallationDiskSpeedCheck: {run: a.diskSpeedCheck},
		wire.StepTypeLogsGather:                 {run: doing(a.logsGather)},
		wire.StepTypeAPIVipConnectivityCheck:    {run: taking(a.apiVIPConnectivity)},
		wire.StepTypeUpgradeAgent:               {run: taking(a.upgradeAgent), then: a.becomeUpgraded, needsThen: upgraded},
		wire.StepTypeTangConnectivityCheck:      {run: taking(a.tangConnectivity)},
		wire.StepTypeDhcpLeaseAllocate:          {run: taking(a.leaseAllocation)},
		wire.StepTypeStopInstallation:           {run: a.stopInstallation},

		wire.StepTypeInstall:               {run: doing(a.install)},
		wire.StepTypeDownloadBootArtifacts: {run: doing(a.downloadBootArtifacts)},
		wire.StepTypeRebootForReclaim:      {run: doing(a.acceptReclaim), then: a.reclaim},
	}
	for step, run := range a.installer.Steps() {
		specs[step] = spec{run: taking(run)}
	}
	specs[steps.Reboot] = spec{run: specs[steps.Reboot].run, then: a.reboot}
	for _, row := range steps.All() {
		if s, runs := specs[row.Type]; runs {
			s.Step = row
			specs[row.Type] = s
		}
	}
	return specs
}

// follows reports whether a reply leaves something to do.
func (s spec) follows(reply wire.StepReply) bool {
	return s.then != nil && reply.ExitCode == 0 && (s.needsThen == nil || s.needsThen(reply.Output))
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

// doing makes a step of a function with a request in JSON. Its output is an empty object.
func doing[Request any](do func(context.Context, *Request) error) func(context.Context, []string) (string, error) {
	return taking(func(ctx context.Context, request *Request) (nothing, error) { return nothing{}, do(ctx, request) })
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
