package service

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/api"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// KeyOptions are the key pair of tokens, by the names that deployments set already.
type KeyOptions struct {
	PrivateKey model.Secret `env:"EC_PRIVATE_KEY_PEM" help:"Key that signs tokens (P-256), PEM or base64 of it; better in the environment." placeholder:"PEM"`
	PublicKey  string       `env:"EC_PUBLIC_KEY_PEM" help:"Key that tokens are checked with, PEM or base64 of it." placeholder:"PEM"`
}

// authOptions say who may use the service, by the names that deployments set already.
type authOptions struct {
	KeyOptions
	AuthType        string        `name:"auth-type" default:"none" enum:"none,local,agent-installer-local" env:"AUTH_TYPE" help:"How callers prove who they are: none, local or agent-installer-local."`
	ImageExpiration time.Duration `default:"4h" env:"IMAGE_EXPIRATION_TIME" help:"How long the address of a discovery image is good where it is signed."`
	ImageServiceURL string        `env:"IMAGE_SERVICE_BASE_URL" help:"Address that discovery images are offered at; by default that of the API." placeholder:"URL"`
}

// identify reads who may use the service, before anything is started.
func (s *Service) identify() error {
	mode, err := auth.ParseMode(s.options.AuthType)
	if err != nil {
		return err
	}
	if mode == auth.ModeNone {
		s.identity = auth.None{}
		return nil
	}
	local, err := s.options.Local(mode, s.options.ImageExpiration, s.process.Now)
	if err != nil {
		return fmt.Errorf("AUTH_TYPE=%s: %w", mode, err)
	}
	local.TokenKey = func(ctx context.Context, id uuid.UUID) (model.Secret, error) {
		return s.store.TokenKey(ctx, id) // opened later
	}
	s.identity = local
	return nil
}

func (o KeyOptions) Local(mode auth.Mode, expiration time.Duration, now func() time.Time) (*auth.Local, error) {
	return auth.NewLocal(auth.LocalOptions{
		Mode: mode, PrivateKey: o.PrivateKey, PublicKey: o.PublicKey, ImageExpiration: expiration, Now: now,
	})
}

var _ api.Identity = auth.None{}

// signingPurpose names the key of signed addresses.
const signingPurpose = "signed addresses"
