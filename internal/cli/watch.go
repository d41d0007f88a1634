package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"slipway/internal/cli/view"
)

// watchFlag repeats a list.
type watchFlag struct {
	Watch bool `short:"w" help:"Show the list again when it changes, until interrupted."`
}

// listing is an answer of the API, and the table of it.
type listing struct {
	answer any
	table  *view.Table
}

// show prints a list once, or again and again: redrawn in place on a terminal, where it changed elsewhere.
func (f watchFlag) show(ctx context.Context, at *Connection, t *Terminal, read func() (listing, error)) error {
	screen, last := t.Screen(), ""
	var feed changed
	for {
		list, err := read()
		switch {
		case err == nil && !f.Watch:
			return at.printListed(t, list)
		case err == nil:
			if last, err = at.printChanged(t, screen, list, last); err != nil {
				return err
			}
		case f.Watch && ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how watching ends
		case !f.Watch || ExitCode(err) != exitUnreachable:
			return err
		}
		if feed.wait(ctx, at.Client(), err == nil) != nil {
			return nil //nolint:nilerr // the same
		}
	}
}

func (c *Connection) printListed(t *Terminal, list listing) error {
	if c.forPrograms() {
		return c.print(t, list.answer)
	}
	c.table(t, list.table)
	return nil
}

// printChanged prints a list that differs from the one before, and returns what to compare with next.
func (c *Connection) printChanged(t *Terminal, screen *view.Screen, list listing, last string) (string, error) {
	if t.Interactive && !c.forPrograms() {
		list.table.Headless = c.NoHeaders
		var lines []view.Line
		for _, text := range list.table.Lines() {
			lines = append(lines, view.Line{Text: text})
		}
		screen.Draw(lines)
		return "", nil
	}
	text, err := json.Marshal(list.answer)
	if err != nil {
		return "", fmt.Errorf("write the answer: %w", err)
	}
	switch {
	case string(text) == last:
		return last, nil
	case c.forPrograms():
		return string(text), c.printNext(t, list.answer)
	}
	c.table(t, list.table)
	return string(text), nil
}
