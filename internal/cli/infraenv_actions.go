package cli

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type infraEnvSet struct {
	infraEnvArgument
	infraEnvFlags
}

// Run changes an InfraEnv.
func (k *infraEnvSet) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	params, err := k.params()
	if err != nil {
		return err
	}
	if params == (wire.InfraEnvUpdateParams{}) {
		return usagef("require a flag with what to change")
	}
	env, err := ask(ctx, &at.Connection, k, "change", func(c *client.Client, found *wire.InfraEnv) (*wire.InfraEnv, error) {
		params.Proxy = proxy(found.Proxy, k.HTTPProxy, k.HTTPSProxy, k.NoProxy) // the API replaces a proxy whole
		return c.UpdateInfraEnv(ctx, found.ID, params)
	})
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, env)
	}
	t.printf("InfraEnv %s changed: hosts that boot from now on get it\n", env.Name)
	return nil
}

// act runs an operation without a result; verb and does describe it in sentences.
func (a infraEnvArgument) act(ctx context.Context, at *InfraEnvCommands, t *Terminal, verb, does string,
	do func(c *client.Client, ctx context.Context, id uuid.UUID, options ...client.Option) error,
) error {
	env, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.InfraEnv) (*wire.InfraEnv, error) {
		return found, do(c, ctx, found.ID)
	})
	if err == nil && !at.forPrograms() {
		t.printf("InfraEnv %s %s\n", env.Name, does)
	}
	return err
}

type infraEnvRotate struct{ infraEnvArgument }

// Run replaces the key of an InfraEnv.
func (k *infraEnvRotate) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	return k.act(ctx, at, t, "replace the key of", "has a new key", (*client.Client).RotateKey)
}

type infraEnvDelete struct{ infraEnvArgument }

// Run forgets an InfraEnv.
func (k *infraEnvDelete) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	return k.act(ctx, at, t, "delete", "deleted", (*client.Client).DeleteInfraEnv)
}
