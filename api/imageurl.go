package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// GetInfraEnvDownloadURL tells where the discovery image is offered, and until when.
func (s *server) GetInfraEnvDownloadURL(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	e, err := s.Store.InfraEnv(r.Context(), id)
	var address string
	var expires time.Time
	if err == nil {
		address, expires, err = s.imageURL(e)
	}
	ok(w, r, wire.PresignedURL{URL: address, ExpiresAt: wire.DateTime(expires)}, err)
}

// RegenerateInfraEnvSigningKey ends all addresses of images that were given out.
func (s *server) RegenerateInfraEnvSigningKey(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	_, err := s.Store.UpdateInfraEnv(r.Context(), id, func(e *model.InfraEnv, tx *store.Tx) error {
		e.TokenKey = newTokenKey()
		record(r, tx, events.ImageInfoUpdated, ofInfraEnv(e), events.Props{"details": "the signing key was replaced"})
		return nil
	})
	noContent(w, r, err)
}

// imageVersion is the OpenShift version whose system the image has.
func (s *server) imageVersion(e *model.InfraEnv) string {
	if e.OpenShiftVersion != "" {
		return e.OpenShiftVersion
	}
	if release, err := s.Releases.Find(""); err == nil {
		return release.Version
	}
	return ""
}

// imageURL is where the discovery image of an environment is offered
// (docs/reference/images.md, "Addresses"); a zero time is no end.
func (s *server) imageURL(e *model.InfraEnv) (string, time.Time, error) {
	link, err := s.Identity.ImageLink(e)
	if err != nil {
		return "", time.Time{}, err
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s.iso", s.ImageServiceURL, link.Kind, url.PathEscape(link.Value), s.imageVersion(e),
		e.CPUArchitecture, strings.TrimSuffix(e.ImageType, "-iso")), link.ExpiresAt, nil
}

// imageQuery is what opens an environment's files in the query of an address.
func (s *server) imageQuery(e *model.InfraEnv) (url.Values, error) {
	link, err := s.Identity.ImageLink(e)
	if err != nil {
		return nil, err
	}
	switch link.Kind {
	case auth.ByAPIKey:
		return url.Values{places[auth.SchemeURL].name: {link.Value}}, nil
	case auth.ByToken:
		return url.Values{places[auth.SchemeImageURL].name: {link.Value}}, nil
	}
	return url.Values{}, nil
}
