package keys

import (
	"context"
	"errors"
	"fmt"

	"slipway/internal/app/process"
)

// sealCommand seals the key file. A service reads it again when it changes.
type sealCommand struct{ place }

// Run needs no service that runs.
func (c *sealCommand) Run(ctx context.Context, p *process.Process) error {
	file, err := c.file(ctx, p)
	if err != nil {
		return err
	}
	if file.Service == nil {
		return errors.New("require --key-service, such as hashivault://slipway")
	}
	if err := file.Seal(); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s is sealed; copies of before are in clear: slipway keys rotate makes a key that was never in clear\n", file.Path)
	return nil
}

// unsealCommand writes the key file in clear.
type unsealCommand struct{ place }

// Run needs no service that runs.
func (c *unsealCommand) Run(ctx context.Context, p *process.Process) error {
	file, err := c.file(ctx, p)
	if err != nil {
		return err
	}
	if err := file.Unseal(); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s is in clear\n", file.Path)
	return nil
}
