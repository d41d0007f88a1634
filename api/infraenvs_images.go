package api

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// GetInfraEnvDownloadURL returns the address of the discovery image, and when the address expires.
func (s *server) GetInfraEnvDownloadURL(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	e, err := s.Store.InfraEnv(r.Context(), id)
	var address string
	var expires time.Time
	if err == nil {
		address, expires, err = s.images.ISO(e)
	}
	ok(w, r, wire.PresignedURL{URL: address, ExpiresAt: wire.DateTime(expires)}, err)
}

// RegenerateInfraEnvSigningKey invalidates all earlier addresses of images.
func (s *server) RegenerateInfraEnvSigningKey(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	_, err := s.Store.UpdateInfraEnv(r.Context(), id, func(e *model.InfraEnv, tx *store.Tx) error {
		e.TokenKey = newTokenKey()
		record(r, tx, events.ImageInfoUpdated, ofInfraEnv(e), events.Props{"details": "the signing key was replaced"})
		return nil
	})
	noContent(w, r, err)
}
