package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"slipway/agent/journal"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// Exit codes of steps, besides the exit codes of their commands (docs/reference/agent-protocol.md,
// "Exit codes").
const (
	exitFailed       = -1
	exitTimedOut     = 124
	exitRunning      = 125 // of a second install step; services ignore it
	exitDisconnected = 256
)

// take starts a step unless its id is known already. The journal has it before anything
// happens.
func (a *Agent) take(ctx context.Context, steps *sync.WaitGroup, step wire.Step) {
	if err := a.passes(step); err != nil {
		a.refuse(ctx, steps, step, err)
		return
	}
	what := a.specs[step.StepType] // the zero spec of an unknown type refuses
	fresh, err := a.journal.Start(step, what.ChangesHost)
	if err != nil {
		a.log.Error("step not taken", "step", step.StepID, "error", err)
		return // the service offers it again
	}
	if !fresh {
		a.answerAgain(ctx, steps, step)
		return
	}
	a.log.Info("step taken", "step", step.StepID)
	taskCtx, task := a.tasks.add(ctx, step, what)
	steps.Go(func() {
		reply := a.perform(taskCtx, task)
		a.tasks.remove(task)
		if ctx.Err() != nil && reply.ExitCode != 0 {
			return // the journal still says started: the next agent reports it as interrupted
		}
		followUp := what.follows(reply)
		if err := a.journal.Finish(reply, followUp); err != nil {
			a.log.Error("reply not kept", "step", step.StepID, "error", err)
		}
		a.deliver(ctx, step, reply, followUp)
	})
}

// answerAgain hands in the reply of a step that was done once more: the service has forgotten it. It asks again if this fails.
func (a *Agent) answerAgain(ctx context.Context, steps *sync.WaitGroup, step wire.Step) {
	reply, ok := a.journal.Answer(step.StepID)
	if !ok {
		return
	}
	steps.Go(func() {
		if err := a.options.Client.PostReply(ctx, a.options.InfraEnvID, a.hostID, reply); err != nil {
			a.log.Warn("reply not delivered once more", "step", step.StepID, "error", err)
		}
	})
}

// resume takes up what the journal says an earlier agent of this boot left open.
func (a *Agent) resume(ctx context.Context, steps *sync.WaitGroup) {
	for _, entry := range a.journal.Unclosed() {
		steps.Go(func() { a.resumeStep(ctx, entry) })
	}
}

func (a *Agent) resumeStep(ctx context.Context, entry journal.Entry) {
	switch entry.State {
	case journal.Acknowledged:
		a.followUp(ctx, entry.Step)
	case journal.Finished:
		a.deliver(ctx, entry.Step, *entry.Reply, entry.FollowUp)
	default:
		reply := wire.StepReply{
			StepID: entry.Step.StepID, StepType: entry.Step.StepType, ExitCode: wire.ExitInterrupted,
			Error: "interrupted: the agent was restarted before the step ended",
		}
		if err := a.journal.Finish(reply, false); err != nil {
			a.log.Error("reply not kept", "step", reply.StepID, "error", err)
		}
		a.deliver(ctx, entry.Step, reply, false)
	}
}

// perform runs a step within its limits and makes its reply.
func (a *Agent) perform(ctx context.Context, t *task) wire.StepReply {
	output, err := a.inTurn(ctx, t)
	reply := wire.StepReply{StepID: t.step.StepID, StepType: t.step.StepType, Output: a.redact(output)}
	if err == nil {
		return reply
	}
	reply.ExitCode, reply.Error = exitCode(err), a.redact(err.Error())
	a.log.Warn("step failed", "step", t.step.StepID, "code", reply.ExitCode, "error", reply.Error)
	return reply
}

func (a *Agent) inTurn(ctx context.Context, t *task) (string, error) {
	if t.spec.run == nil {
		return "", fmt.Errorf("unknown step type %q: this agent cannot run it", t.step.StepType)
	}
	done, err := a.tasks.turn(ctx, t)
	if err != nil {
		return "", err
	}
	defer done()
	if err := a.checkMedia(ctx, t); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeoutCause(ctx, t.spec.Timeout, errTimedOut{t.spec.Timeout})
	defer cancel()
	output, err := t.spec.run(limited, t.step.Args)
	switch {
	case err == nil:
		return output, nil
	case limited.Err() != nil:
		return output, context.Cause(limited) // rather than what a killed command says
	}
	return output, errors.Join(a.checkMedia(ctx, t), err)
}

// exitCode returns the exit code of the command that failed, if a command failed.
func exitCode(err error) int {
	var (
		exit    *hostexec.ExitError
		limit   errTimedOut
		media   *mediaError
		partial *partialError
	)
	switch {
	case errors.As(err, &media):
		return exitDisconnected
	case errors.As(err, &limit):
		return exitTimedOut
	case errors.Is(err, errSuperseded), errors.Is(err, errBusy):
		return wire.ExitInterrupted
	case errors.Is(err, errRunning):
		return exitRunning
	case errors.As(err, &partial):
		return partial.code
	case errors.As(err, &exit) && exit.Code > 0:
		return exit.Code
	}
	return exitFailed
}

// redact keeps the agent's own secret out of what the service shows to users.
func (a *Agent) redact(text string) string {
	if token := a.options.Client.Token().Reveal(); token != "" {
		return strings.ReplaceAll(text, token, "[redacted]")
	}
	return text
}
