// Package keys holds the commands that replace the key of the secrets. They work on the key file and the database of a service
// on this machine; the service itself encrypts again.
package keys

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/postgres"
	"slipway/internal/platform/store"
)

// Commands show and replace the keys of the secrets.
type Commands struct {
	List   listCommand   `cmd:"" default:"withargs" help:"List the keys, and how much each still encrypts."`
	Rotate rotateCommand `cmd:"" help:"Put a new key in place, and wait until the service has encrypted everything with it."`
	Remove removeCommand `cmd:"" help:"Remove a key that encrypts nothing any more."`
	Seal   sealCommand   `cmd:"" help:"Seal a key file in clear with the key service of --key-service."`
	Unseal unsealCommand `cmd:"" help:"Write a sealed key file in clear, to seal it with another key service or none."`
}

// place has the keys of a service, and what the service says of them.
type place struct{ settings.Place }

// file returns the key file.
func (c *place) file(ctx context.Context, p *process.Process) (encryption.File, error) {
	return c.MasterKeys(ctx, c.DataDir, p.Env)
}

// state holds the keys of the file, and what the service says of them.
type state struct {
	keys []encryption.Key
	uses map[string]store.KeyUse
}

func (c *place) open(ctx context.Context, now func() time.Time) (*store.Store, error) {
	address := c.DatabaseURL
	if address == "" {
		address = postgres.URLOf(c.DataDir)
	}
	s, err := store.Open(ctx, store.Options{URL: address, Now: now, MaxConns: 1})
	if err != nil {
		return nil, fmt.Errorf("ask the service for its use of keys (require one that runs, on this machine or with --database-url): %w", err)
	}
	return s, nil
}

func read(ctx context.Context, file encryption.File, s *store.Store) (state, error) {
	keys, err := file.Read()
	if err != nil {
		return state{}, err
	}
	found, err := s.KeyUses(ctx)
	if err != nil {
		return state{}, fmt.Errorf("ask the service for its use of keys: %w", err)
	}
	uses := map[string]store.KeyUse{}
	for _, u := range found {
		uses[u.ID] = u
	}
	return state{keys, uses}, nil
}

// left says how much is to be encrypted again: nothing when done is true, and the number of values where it is known.
func (s state) left() (values int64, done bool) {
	current, used := s.uses[s.keys[0].ID()]
	done = used
	for _, key := range s.keys[1:] {
		use := s.uses[key.ID()]
		if !use.CountedAt.After(current.UsedSince) {
			done = false
		}
		values += use.Values
	}
	return values, done && values == 0
}

// listCommand shows the keys.
type listCommand struct{ place }

// Run prints a line a key, the key that encrypts first.
func (c *listCommand) Run(ctx context.Context, p *process.Process) error {
	file, err := c.file(ctx, p)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, p.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := read(ctx, file, s)
	if err != nil {
		return err
	}
	return found.print(p.Stdout)
}

func (s state) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "KEY\tUSE\tSINCE\tVALUES\tWORKFLOWS")
	for n, key := range s.keys {
		use, known := s.uses[key.ID()]
		does, since, values, workflows := "decrypts", "-", "-", "-"
		if n == 0 {
			does = "encrypts"
		}
		if known {
			since = use.UsedSince.Format(time.RFC3339)
		}
		if !use.CountedAt.IsZero() {
			values = fmt.Sprint(use.Values)
			if n > 0 {
				workflows = fmt.Sprint(use.Workflows)
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", key.ID(), does, since, values, workflows)
	}
	return table.Flush()
}

// rotateCommand puts a new key in place.
type rotateCommand struct {
	place
	Wait time.Duration `default:"1h" help:"How long to wait for the service; 0: not at all. It continues in any case."`
}

// Run adds a key, unless the service is still busy with the last one, and waits.
func (c *rotateCommand) Run(ctx context.Context, p *process.Process) error {
	file, err := c.file(ctx, p)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, p.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := read(ctx, file, s)
	if err != nil {
		return err
	}
	if _, done := found.left(); done || len(found.keys) == 1 {
		key, err := file.AddKey()
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "key %s encrypts from now on: keep a copy of %s\n", key.ID(), file.Path)
	} else {
		fmt.Fprintf(p.Stdout, "the service is still busy with key %s: no other is added\n", found.keys[0].ID())
	}
	return c.wait(ctx, p, file, s)
}

func (c *rotateCommand) wait(ctx context.Context, p *process.Process, file encryption.File, s *store.Store) error {
	if c.Wait <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		found, err := read(ctx, file, s)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			values, done := found.left()
			if done {
				fmt.Fprintf(p.Stdout, "the secrets of the service are encrypted with key %s\n", found.keys[0].ID())
				return found.print(p.Stdout)
			}
			p.Log.Debug("wait for the service", "key", found.keys[0].ID(), "values left", values)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the service to encrypt again (it continues; slipway keys list shows how far it is): %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

// removeCommand removes a key.
type removeCommand struct {
	place
	Key string `arg:"" help:"Id of the key, as slipway keys list shows it."`
}

// Run refuses while anything is encrypted with the key.
func (c *removeCommand) Run(ctx context.Context, p *process.Process) error {
	file, err := c.file(ctx, p)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, p.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := read(ctx, file, s)
	if err != nil {
		return err
	}
	if err := found.removable(c.Key); err != nil {
		return err
	}
	if err := file.RemoveKey(c.Key); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "key %s is removed; backups from before need it: keep a copy as long as you keep them\n", c.Key)
	return nil
}

// removable refuses a key that the service needs.
func (s state) removable(id string) error {
	use, known := s.uses[id]
	switch {
	case id == s.keys[0].ID():
		return fmt.Errorf("remove key %s: the service encrypts with it: rotate first", id)
	case !known || !use.CountedAt.After(s.uses[s.keys[0].ID()].UsedSince):
		return fmt.Errorf("remove key %s: require a service that has counted what it encrypts: wait, and look at slipway keys list", id)
	case use.Values > 0:
		return fmt.Errorf("remove key %s: require that it encrypts nothing, found %d values of the service", id, use.Values)
	case use.Workflows > 0:
		return fmt.Errorf("remove key %s: require that it encrypts nothing, found %d workflows in Temporal that started before it was replaced: "+
			"they leave with their retention", id, use.Workflows)
	}
	return nil
}
