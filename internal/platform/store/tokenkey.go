package store

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// TokenKey reads the key that signs the image addresses of a discovery environment.
func (s *Store) TokenKey(ctx context.Context, infraEnvID uuid.UUID) (model.Secret, error) {
	e, err := s.InfraEnv(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return e.TokenKey, nil
}
