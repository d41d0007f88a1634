package agent

import (
	"context"
	"errors"
	"net/http"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// refusals is how often the service may refuse a reply before the agent gives it up.
const refusals = 6

// deliver hands in a reply until the service has it, then does what is left to do.
func (a *Agent) deliver(ctx context.Context, step wire.Step, reply wire.StepReply, followUp bool) {
	pauses := newPauses()
	for refused := 0; ; {
		err := a.options.Client.PostReply(ctx, a.options.InfraEnvID, a.hostID, reply)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		a.log.Warn("reply not delivered", "step", step.StepID, "error", err)
		if definite(err) {
			refused++
		}
		if refused == refusals {
			a.log.Error("reply given up", "step", step.StepID)
			a.close(a.journal.GiveUp(step.StepID), step)
			return
		}
		if unacceptable(err) && reply.Output != "" {
			reply, followUp = unreadable(reply, err), false
		}
		if a.host.Sleep(ctx, pauses.next(err)) != nil {
			return
		}
	}
	if !followUp {
		a.close(a.journal.Done(step.StepID), step)
		return
	}
	a.close(a.journal.Acknowledge(step.StepID), step)
	a.followUp(ctx, step)
}

// followUp retries the work that a step leaves for after its reply until it succeeds.
func (a *Agent) followUp(ctx context.Context, step wire.Step) {
	pauses := newPauses()
	for {
		err := a.specs[step.StepType].then(ctx, step.Args)
		if err == nil {
			a.close(a.journal.Done(step.StepID), step)
			return
		}
		if ctx.Err() != nil {
			return
		}
		a.log.Error("step not carried through", "step", step.StepID, "error", err)
		if a.host.Sleep(ctx, pauses.next(err)) != nil {
			return
		}
	}
}

func (a *Agent) close(err error, step wire.Step) {
	if err != nil {
		a.log.Error("end of a step not kept", "step", step.StepID, "error", err)
	}
}

// definite says that the service understood and does not want this reply. 401 and 403 are
// not definite: the agent is not let in, which may change.
func definite(err error) bool {
	return !client.Passing(err) && !errors.Is(err, client.ErrUnauthorized)
}

// unacceptable says that the content of the reply is at fault.
func unacceptable(err error) bool {
	var apiErr *client.Error
	return errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrUnprocessable) ||
		errors.As(err, &apiErr) && apiErr.Status == http.StatusRequestEntityTooLarge
}

// unreadable reports a failure in place of an output the service cannot read, so that
// whoever waits for the step learns of it.
func unreadable(reply wire.StepReply, err error) wire.StepReply {
	reply.Output, reply.ExitCode, reply.Error = "", exitFailed, "the service refused the output: "+err.Error()
	return reply
}
