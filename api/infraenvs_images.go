package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// GetInfraEnvDownloadURL returns the address of the discovery image, and when the address expires.
func (s *server) GetInfraEnvDownloadURL(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	e, err := s.Store.InfraEnv(r.Context(), id)
	if err != nil {
		return err
	}
	address, expires, err := s.images.ISO(e)
	if err != nil {
		return err
	}
	return ok(w, wire.PresignedURL{URL: address, ExpiresAt: wire.DateTime(expires)})
}

// RegenerateInfraEnvSigningKey invalidates all earlier addresses of images.
func (s *server) RegenerateInfraEnvSigningKey(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	_, err := s.Store.UpdateInfraEnv(r.Context(), id, func(e *model.InfraEnv, tx *store.Tx) error {
		e.TokenKey, e.KeyReplacedAt = newTokenKey(), tx.Now()
		record(r, tx, events.ImageInfoUpdated, ofInfraEnv(e), events.Props{"details": "the signing key was replaced"})
		return nil
	})
	if err != nil {
		return err
	}
	return noContent(w)
}
