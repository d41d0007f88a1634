package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/api"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// keyOptions are the key pair of tokens, by the names that deployments set already.
type keyOptions struct {
	PrivateKey model.Secret `env:"EC_PRIVATE_KEY_PEM" help:"Key that signs tokens (P-256), PEM or base64 of it; better in the environment." placeholder:"PEM"`
	PublicKey  string       `env:"EC_PUBLIC_KEY_PEM" help:"Key that tokens are checked with, PEM or base64 of it." placeholder:"PEM"`
}

// authOptions say who may use the service, by the names that deployments set already.
type authOptions struct {
	keyOptions
	AuthType        string        `name:"auth-type" default:"none" enum:"none,local,agent-installer-local" env:"AUTH_TYPE" help:"How callers prove who they are: none, local or agent-installer-local."`
	ImageExpiration time.Duration `default:"4h" env:"IMAGE_EXPIRATION_TIME" help:"How long the address of a discovery image is good where it is signed."`
	ImageServiceURL string        `env:"IMAGE_SERVICE_BASE_URL" help:"Address that discovery images are offered at; by default that of the API." placeholder:"URL"`
}

// identify reads who may use the service, before anything is started.
func (s *service) identify() error {
	mode, err := auth.ParseMode(s.options.AuthType)
	if err != nil {
		return err
	}
	if mode == auth.ModeNone {
		s.identity = auth.None{}
		return nil
	}
	local, err := s.options.local(mode, s.options.ImageExpiration, s.process.now)
	if err != nil {
		return fmt.Errorf("AUTH_TYPE=%s: %w", mode, err)
	}
	local.TokenKey = func(ctx context.Context, id uuid.UUID) (model.Secret, error) {
		return s.store.TokenKey(ctx, id) // opened later
	}
	s.identity = local
	return nil
}

func (o keyOptions) local(mode auth.Mode, expiration time.Duration, now func() time.Time) (*auth.Local, error) {
	return auth.NewLocal(auth.LocalOptions{
		Mode: mode, PrivateKey: o.PrivateKey, PublicKey: o.PublicKey, ImageExpiration: expiration, Now: now,
	})
}

var _ api.Identity = auth.None{}

// signingPurpose names the key of signed addresses.
const signingPurpose = "signed addresses"

// tokenCommand signs a token. It needs the keys of the service, and no service.
type tokenCommand struct {
	keyOptions
	User     string        `xor:"for" help:"Name of a user the token is for." placeholder:"NAME"`
	InfraEnv uuid.UUID     `xor:"for" help:"Discovery environment whose agents the token is for." placeholder:"ID"`
	Cluster  uuid.UUID     `xor:"for" help:"Cluster that the token opens." placeholder:"ID"`
	Expires  time.Duration `help:"How long it is good; by default for ever."`
}

// Run prints the token.
func (c *tokenCommand) Run(p *process) error {
	grant := auth.Grant{Name: c.User, InfraEnvID: c.InfraEnv, ClusterID: c.Cluster}
	switch {
	case c.User != "":
		grant.Scheme = auth.SchemeUser
	case c.InfraEnv == uuid.Nil && c.Cluster == uuid.Nil:
		return errors.New("require one of --user, --infra-env and --cluster, found none")
	}
	if c.Expires > 0 {
		grant.Expires = p.now().Add(c.Expires)
	}
	local, err := c.local(auth.ModeLocal, 0, p.now)
	if err != nil {
		return err
	}
	token, err := local.Token(grant)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, token.Reveal())
	return nil
}
