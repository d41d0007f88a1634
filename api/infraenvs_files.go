package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"slipway/internal/ignition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// GetInfraEnvDownloadURL tells where the discovery image is offered.
func (s *server) GetInfraEnvDownloadURL(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	e, err := s.Store.InfraEnv(r.Context(), id)
	if err != nil {
		fail(w, r, err)
		return
	}
	ok(w, r, wire.PresignedURL{URL: s.imageURL(e), ExpiresAt: wire.DateTime(e.ExpiresAt)}, nil)
}

// V2DownloadInfraEnvFiles gives a booting host its discovery config.
func (s *server) V2DownloadInfraEnvFiles(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2DownloadInfraEnvFilesParams) {
	if params.FileName != wire.V2DownloadInfraEnvFilesParamsFileNameDiscoveryIgn {
		fail(w, r, errUnsupported("file "+string(params.FileName)))
		return
	}
	config, changed, err := s.discoveryIgnition(r.Context(), id)
	if err != nil {
		fail(w, r, err)
		return
	}
	// Image servers hand the date on: without it a broken download of an image could not go on.
	download(w, string(params.FileName), changed, config)
}

func (s *server) discoveryIgnition(ctx context.Context, id uuid.UUID) (config []byte, changed time.Time, err error) {
	e, err := s.Store.InfraEnv(ctx, id)
	if err != nil {
		return nil, time.Time{}, err
	}
	file, sum, err := s.agents.program(e.CPUArchitecture)
	if errors.Is(err, model.ErrNotFound) {
		err = model.Conflictf("discovery config of infra-env %s cannot be made: %s", e.Name, err)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	config, err = ignition.Discovery(ignition.DiscoveryInput{
		InfraEnv: e, ServiceURL: s.BaseURL, ServiceCA: s.ServiceCA, Insecure: s.Insecure,
		Agent: ignition.Agent{URL: s.BaseURL + "/agent/" + file, SHA256: sum, Version: s.AgentVersion},
	})
	return config, e.UpdatedAt, err
}
