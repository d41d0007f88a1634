package service

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/api"
	"slipway/internal/app/settings"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

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
	local, err := LocalIdentity(s.options.Keys, mode, s.options.ImageExpiration, s.process.Now)
	if err != nil {
		return fmt.Errorf("AUTH_TYPE=%s: %w", mode, err)
	}
	local.TokenKey = func(ctx context.Context, id uuid.UUID) (model.Secret, error) {
		return s.store.TokenKey(ctx, id) // opened later
	}
	s.identity = local
	return nil
}

// LocalIdentity returns the checks of tokens that these keys sign.
func LocalIdentity(o settings.Keys, mode auth.Mode, expiration time.Duration, now func() time.Time) (*auth.Local, error) {
	return auth.NewLocal(auth.LocalOptions{
		Mode: mode, PrivateKey: o.PrivateKey, PublicKey: o.PublicKey, ImageExpiration: expiration, Now: now,
	})
}

var _ api.Identity = auth.None{}

// signingPurpose names the key of signed addresses.
const signingPurpose = "signed addresses"
