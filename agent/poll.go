package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	// pollFloor keeps a service that asks for no pause at all from being overrun.
	pollFloor = time.Second
	// pollCeiling keeps a wrong number from silencing the host.
	pollCeiling = 10 * time.Minute
)

// errExit says that the service asked the agent to register again.
var errExit = errors.New("the service asked for a new registration")

// poll asks for steps and starts them until the registration is over: the service does
// not know the host, or asks for a new registration. registrations are reset once a
// registration has proved itself.
func (a *Agent) poll(ctx context.Context, steps *sync.WaitGroup, registrations *pauses) error {
	pauses, pace := newPauses(), newPace(a.host.Now)
	for {
		reply, err := a.nextSteps(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, model.ErrNotFound), errors.Is(err, client.ErrUnauthorized) && !a.options.Reclaim:
			return err
		case err != nil:
			a.log.Warn("service not reached", "error", err)
			if err := a.host.Sleep(ctx, pauses.next(err)); err != nil {
				return err
			}
			continue
		}
		pauses.reset()
		if token := a.options.Client.HostToken(); token != a.state.kept {
			a.keepToken()
		}
		for _, step := range reply.Instructions {
			a.take(ctx, steps, step)
		}
		if reply.PostStepAction == wire.Exit && !a.options.Reclaim { // then the reboot ends it
			return errExit
		}
		registrations.reset()
		if err := a.host.Sleep(ctx, pace.pause(reply)); err != nil {
			return err
		}
	}
}

func (a *Agent) nextSteps(ctx context.Context) (*client.Poll, error) {
	var options []client.Option
	if a.options.AgentSteps == model.FineSteps {
		options = append(options, client.WithWait(a.options.Wait))
		if !a.options.Reclaim { // the installed system is a boot that never registers
			options = append(options, client.WithBoot(a.state.boot))
		}
	}
	return a.options.Client.NextSteps(ctx, a.options.InfraEnvID, a.hostID, a.host.Now(), options...)
}

// pace decides how soon to poll again. A service that holds polls is asked again at
// once, but not more often than once a second in the long run: the few polls that may
// follow each other faster let a step reach the host as soon as the one before is done.
type pace struct {
	now    func() time.Time
	spare  float64 // polls that may follow at once
	filled time.Time
}

// spareMax is how many polls may follow each other without a pause.
const spareMax = 5

func newPace(now func() time.Time) *pace { return &pace{now: now, spare: spareMax, filled: now()} }

func (p *pace) pause(reply *client.Poll) time.Duration {
	asked := time.Duration(reply.NextInstructionSeconds) * time.Second
	if asked > 0 && !reply.Held {
		return min(asked, pollCeiling)
	}
	now := p.now()
	p.spare = min(spareMax, p.spare+now.Sub(p.filled).Seconds()/pollFloor.Seconds())
	p.filled = now
	if p.spare < 1 {
		return pollFloor
	}
	p.spare--
	return 0
}
