package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"slipway/internal/client"
	"slipway/internal/run"
)

// waited is something with a status that can be waited for.
type waited[F any] struct {
	ends  []string // statuses that end a wait for another
	read  func(c *client.Client, found *F) (*F, error)
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
	found, err := a.find(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, flags.Timeout, errWaitOver)
	defer cancel()
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
		err := run.Sleep(ctx, waitPause)
		if err == nil {
			var next *F
			if next, err = w.read(c, found); err == nil {
				found = next
			}
		}
		switch {
		case errors.Is(context.Cause(ctx), errWaitOver):
			return &Failure{fmt.Errorf("%s is still %s: time is over", a.name(), status), exitTimeout}
		case ctx.Err() != nil:
			return fmt.Errorf("wait for %s: %w", a.name(), err)
		case err != nil && !client.Passing(err):
			return failed(at.URL, "wait for "+a.name(), err)
		}
	}
}
