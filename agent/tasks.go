package agent

import (
	"context"
	"errors"
	"sync"

	"slipway/internal/wire"
)

var (
	errStopped    = errors.New("stopped: the installation was called off")
	errSuperseded = errors.New("interrupted: a newer step of the same type was commanded")
	errBusy       = errors.New("interrupted: too many steps of the same type wait for their turn")
	errRunning    = errors.New("an installation is already running")
)

// waitingMax is how many steps of a type may wait for their turn.
const waitingMax = 8

// tasks are the steps that run or wait for their turn.
type tasks struct {
	mu      sync.Mutex
	running map[string]*task
	turns   map[wire.StepType]chan struct{}
	waiting map[wire.StepType]int
}

// task is a step on its way.
type task struct {
	step   wire.Step
	spec   spec
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the step has a result, delivered or not
}

func newTasks() *tasks {
	return &tasks{running: map[string]*task{}, turns: map[wire.StepType]chan struct{}{}, waiting: map[wire.StepType]int{}}
}

// add makes a task known. A step that changes the host takes the place of an older one
// of its type: whoever commands it again has given the older one up.
func (t *tasks) add(parent context.Context, step wire.Step, spec spec) (context.Context, *task) {
	ctx, cancel := context.WithCancelCause(parent)
	made := &task{step: step, spec: spec, cancel: cancel, ended: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, other := range t.running {
		if spec.ChangesHost && !spec.Exclusive && other.step.StepType == step.StepType {
			other.cancel(errSuperseded)
		}
	}
	t.running[step.StepID] = made
	return ctx, made
}

func (t *tasks) remove(done *task) {
	t.mu.Lock()
	delete(t.running, done.step.StepID)
	t.mu.Unlock()
	close(done.ended)
	done.cancel(nil)
}

// turn waits until no other step of the type runs, and returns a function that lets the next one run.
func (t *tasks) turn(ctx context.Context, of *task) (func(), error) {
	turns, err := t.queue(of)
	if err != nil {
		return nil, err
	}
	defer t.unqueue(of)
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *tasks) queue(of *task) (chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kind := of.step.StepType
	turns, known := t.turns[kind]
	if !known {
		turns = make(chan struct{}, 1)
		t.turns[kind] = turns
	}
	switch {
	case of.spec.Exclusive && len(turns) == cap(turns):
		return nil, errRunning
	case t.waiting[kind] == waitingMax:
		return nil, errBusy
	}
	t.waiting[kind]++
	return turns, nil
}

func (t *tasks) unqueue(of *task) {
	t.mu.Lock()
	t.waiting[of.step.StepType]--
	t.mu.Unlock()
}

// stopInstallation ends all steps that change the host and waits until they have ended.
func (t *tasks) stopInstallation(ctx context.Context) error {
	t.mu.Lock()
	var stopped []*task
	for _, task := range t.running {
		if task.spec.ChangesHost {
			task.cancel(errStopped)
			stopped = append(stopped, task)
		}
	}
	t.mu.Unlock()
	for _, task := range stopped {
		select {
		case <-task.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
