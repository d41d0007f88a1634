package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
)

// waited is something with a status that can be waited for.
type waited[F any] struct {
	ends  []string // statuses that end a wait for another
	read  func(ctx context.Context, c *client.Client, found *F) (*F, error)
	state func(found *F) (status, info string)
	show  func(found *F)
}

// settling is how many looks an end that was there from the beginning is not believed:
// what was accepted just before, a reset say, shows only when its workflow has begun.
const settling = 5

var errWaitOver = errors.New("time is over")

// wait looks again and again until what an argument names has the status of the flags.
func wait[F any](ctx context.Context, at *Connection, t *Terminal, flags waitFlags, a argument[F], w waited[F]) error {
	c := at.Client()
	ctx, cancel := context.WithTimeoutCause(ctx, flags.Timeout, errWaitOver)
	defer cancel()
	found, err := appear(ctx, c, a)
	if err != nil {
		return err
	}
	first, _ := w.state(found)
	for looks := 1; ; looks++ {
		status, info := w.state(found)
		if status != first {
			looks = settling
		}
		if !at.json() { // which goes out alone
			w.show(found)
		}
		switch {
		case status == flags.For && at.json():
			return t.json(found)
		case status == flags.For:
			return nil
		case slices.Contains(w.ends, status) && looks >= settling:
			return &Failure{fmt.Errorf("%s is %s: %s", a.name(), status, info), exitFailed}
		}
		err := hostexec.Sleep(ctx, waitPause)
		if err == nil {
			var next *F
			if next, err = w.read(ctx, c, found); err == nil {
				found = next
			}
		}
		switch {
		case ctx.Err() != nil:
			return waitEnded(ctx, a.name()+" is still "+status)
		case err != nil && !client.Passing(err):
			return failed(at.URL, "wait for "+a.name(), err)
		}
	}
}

// appear finds what an argument names. A host may come later, or get its name when its
// agent tells it; anything else has to be there.
func appear[F any](ctx context.Context, c *client.Client, a argument[F]) (*F, error) {
	for {
		found, err := a.find(ctx, c)
		switch {
		case err == nil:
			return found, nil
		case ctx.Err() == nil && !errors.Is(err, errNoHost):
			return nil, err
		case hostexec.Sleep(ctx, waitPause) != nil:
			return nil, waitEnded(ctx, "there is no "+a.name())
		}
	}
}

// waitEnded is why a wait ended at a state: its time is over, or its user ended it.
func waitEnded(ctx context.Context, state string) error {
	if errors.Is(context.Cause(ctx), errWaitOver) {
		return &Failure{fmt.Errorf("%s: %w", state, errWaitOver), exitTimeout}
	}
	return fmt.Errorf("%s: %w", state, ctx.Err())
}
