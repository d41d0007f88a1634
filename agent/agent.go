package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"slipway/agent/inventory"
	"slipway/agent/journal"
	"slipway/installer"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// defaultWait is how long the service is asked to hold a poll.
const defaultWait = 30 * time.Second

// Agent is the agent of one host.
type Agent struct {
	options   Options
	host      Platform
	log       *slog.Logger
	installer *installer.Installer
	machine   inventory.Machine

	// hostID, state, journal and end, which ends Run, are filled by it before the first step.
	hostID  uuid.UUID
	end     context.CancelCauseFunc
	state   *stateDir
	journal *journal.Journal
	tasks   *tasks
	specs   map[wire.StepType]spec

	mediaMu      sync.Mutex
	mediaReading *mediaReading // in progress, of the boot medium
}

// New makes an agent; Run starts it.
func New(o Options) *Agent {
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir
	}
	if o.AgentSteps == "" {
		o.AgentSteps = model.FineSteps
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Platform.Sleep == nil {
		o.Platform.Sleep = hostexec.Sleep
	}
	host := o.Platform
	a := &Agent{
		options: o, host: host, log: o.Log, tasks: newTasks(),
		machine: inventory.Machine{
			Root: host.Root, Runner: host.Runner, Links: host.Links, BMC: host.BMC, Health: host.Health, Unreadable: logUnreadable(o.Log),
		},
		installer: installer.New(installer.Options{
			Root: host.Root, Runner: host.Runner, Client: o.Client, Kube: host.Kube, Sleep: host.Sleep,
			Insecure: o.Insecure, CACert: o.CACert, Log: o.Log,
		}),
	}
	a.specs = a.stepSpecs()
	return a
}

// Run registers the host and runs its steps until ctx ends; then it kills what still runs, keeps
// its state and returns nil. It returns an error only when the host cannot keep any state, or when
// the agent replaced another one and could not register; otherwise a service that refuses or does
// not answer is asked without a limit.
func (a *Agent) Run(ctx context.Context) error {
	ctx, a.end = context.WithCancelCause(ctx)
	defer a.end(nil)
	state, err := a.openState(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer state.close()
	a.state = state
	if a.journal, err = journal.Open(state.dir, a.host.Now); err != nil {
		return fmt.Errorf("open the agent's state: %w", err)
	}
	if err := a.identify(ctx); err != nil {
		return ended(ctx, err)
	}
	var steps sync.WaitGroup
	a.resume(ctx, &steps)
	err = a.serve(ctx, &steps)
	steps.Wait()
	return ended(ctx, errors.Join(err, a.journal.Close()))
}

// ended returns err, unless ctx has ended: then nothing went wrong, or the agent ended itself.
func ended(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errUnproven):
		return cause
	}
	return nil
}

// identify finds the host's id: the one it was given, the one it registered with in this
// boot, or the one its hardware makes. Hardware may come up late, so it is looked at again.
func (a *Agent) identify(ctx context.Context) error {
	if a.hostID = a.options.HostID; a.hostID != uuid.Nil {
		return nil
	}
	pauses := newPauses()
	for {
		id, err := inventory.HostID(a.machine)
		if err == nil {
			a.hostID = id
			return nil
		}
		a.log.Warn("host not identified", "error", err)
		if err := a.host.Sleep(ctx, pauses.next(err)); err != nil {
			return err
		}
	}
}

// serve registers and polls, again and again.
func (a *Agent) serve(ctx context.Context, steps *sync.WaitGroup) error {
	pauses := newPauses() // of registrations that do not last
	for again := false; ; again = true {
		if !a.options.Reclaim {
			if err := a.beRegistered(ctx, again); err != nil {
				return err
			}
		}
		err := a.poll(ctx, steps, pauses)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.log.Info("registration over", "reason", err)
		if err := a.state.forget(); err != nil {
			a.log.Error("registration not forgotten", "error", err)
		}
		if err := a.host.Sleep(ctx, pauses.next(err)); err != nil {
			return err
		}
	}
}

// beRegistered registers the host, unless an agent before did so in this boot: then it uses the token that was given to that.
func (a *Agent) beRegistered(ctx context.Context, again bool) error {
	if !a.state.registered(a.registration()) {
		return a.register(ctx, again)
	}
	a.options.Client.SetToken(a.state.token())
	return nil
}

// keepToken remembers the token of the host for the next agent of this boot.
func (a *Agent) keepToken() {
	if err := a.state.keepToken(a.options.Client.HostToken()); err != nil {
		a.log.Error("token not kept", "error", err) // a restart registers once more
	}
}

// register announces the host until the service takes it; again says that it did before in this boot.
func (a *Agent) register(ctx context.Context, again bool) error {
	var options []client.Option
	if again {
		options = append(options, client.WithRegistrationAgain())
	}
	if a.options.AgentSteps == model.FineSteps {
		options = append(options, client.WithFineSteps(), client.WithBoot(a.state.boot))
	}
	pauses := newPauses()
	for {
		_, err := a.options.Client.RegisterHost(ctx, a.options.InfraEnvID, a.hostID, options...)
		if err == nil {
			a.log.Info("host registered", "host", a.hostID)
			a.keepToken()
			if err := a.state.remember(a.registration()); err != nil {
				a.log.Error("registration not kept", "error", err) // a restart registers once more
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, client.ErrUnauthorized) && a.options.Client.HostToken() != "" {
			a.options.Client.SetToken("") // it has ended: the image's token registers the host without proof
			continue
		}
		pause := pauses.next(err)
		a.explain(err, pause)
		if err := a.host.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// explain logs why the host is not registered.
func (a *Agent) explain(err error, pause time.Duration) {
	var text string
	switch {
	case errors.Is(err, model.ErrNotFound):
		text = "host not registered: it was deleted, and has to be booted again, or its infra-env or cluster, and needs another image"
	case errors.Is(err, client.ErrUnauthorized):
		text = "host not registered: the token of its image has ended or was replaced, and the host needs another image"
	default:
		a.log.Warn("host not registered", "error", err)
		return
	}
	a.log.Error(text, "infra_env", a.options.InfraEnvID, "error", err, "asked_again_in", pause.Round(time.Second))
}

func (a *Agent) registration() registration {
	return registration{
		Service: a.options.Client.BaseURL(), InfraEnvID: a.options.InfraEnvID, HostID: a.hostID, AgentSteps: a.options.AgentSteps,
	}
}
