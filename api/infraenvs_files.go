package api

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/ignition"
	"slipway/internal/model"
	"slipway/internal/staticnet"
	"slipway/internal/wire"
)

// V2DownloadInfraEnvFiles gives a booting host its discovery config, a script to boot
// over the network, or the network settings of all hosts.
func (s *server) V2DownloadInfraEnvFiles(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2DownloadInfraEnvFilesParams) {
	e, err := s.Store.InfraEnv(r.Context(), id)
	var content []byte
	if err == nil {
		switch params.FileName {
		case wire.V2DownloadInfraEnvFilesParamsFileNameIpxeScript:
			content, err = s.ipxeScript(r.Context(), e, params)
		case wire.V2DownloadInfraEnvFilesParamsFileNameStaticNetworkConfig:
			content, err = staticNetworkArchive(e)
		default:
			content, err = s.discoveryIgnition(e, or(string(params.DiscoveryIsoType), e.ImageType))
		}
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	// Image servers hand the date on: without it a broken download of an image could not go on.
	download(w, string(params.FileName), e.UpdatedAt, content)
}

func (s *server) discoveryIgnition(e *model.InfraEnv, imageType string) ([]byte, error) {
	file, sum, err := s.agents.program(e.CPUArchitecture)
	if errors.Is(err, model.ErrNotFound) {
		err = model.Conflictf("discovery config of infra-env %s cannot be made: %s", e.Name, err)
	}
	if err != nil {
		return nil, err
	}
	token, err := s.Identity.AgentToken(e)
	if err != nil {
		return nil, err
	}
	var network []staticnet.File
	if imageType != string(wire.ImageTypeMinimalIso) {
		if network, err = staticNetworkFiles(e); err != nil {
			return nil, err
		}
	}
	return ignition.Discovery(ignition.DiscoveryInput{
		InfraEnv: e, ServiceURL: s.BaseURL, ServiceCA: s.ServiceCA, Insecure: s.Insecure, Deployment: s.Deployment,
		AgentToken: token, StaticNetwork: network,
		Agent: ignition.Agent{URL: s.BaseURL + "/agent/" + file, SHA256: sum, Version: s.AgentVersion},
	})
}

// DownloadMinimalInitrd gives an image what it needs before it can fetch its root file
// system; most need nothing.
func (s *server) DownloadMinimalInitrd(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	e, err := s.Store.InfraEnv(r.Context(), id)
	var archive []byte
	if err == nil {
		archive, err = minimalInitrd(e)
	}
	switch {
	case err != nil:
		fail(w, r, err)
	case archive == nil:
		noContent(w, r, nil)
	default:
		download(w, "initrd.img", e.UpdatedAt, archive)
	}
}

func minimalInitrd(e *model.InfraEnv) ([]byte, error) {
	hosts, err := staticnet.Parse(e.StaticNetworkConfig)
	if err != nil {
		return nil, staleNetwork(e, err)
	}
	return staticnet.MinimalInitrd(hosts, e.Proxy)
}

func staticNetworkFiles(e *model.InfraEnv) ([]staticnet.File, error) {
	hosts, err := staticnet.Parse(e.StaticNetworkConfig)
	if err != nil {
		return nil, staleNetwork(e, err)
	}
	return staticnet.Files(hosts)
}

// staleNetwork is about settings that were taken by a version with looser rules.
func staleNetwork(e *model.InfraEnv, err error) error {
	return model.Conflictf("network settings of infra-env %s have to be set again: %s", e.Name, err)
}

// staticNetworkArchive packs the network settings of all hosts (tar), for people who look
// into them and for tools that put them into images of their own.
func staticNetworkArchive(e *model.InfraEnv) ([]byte, error) {
	files, err := staticNetworkFiles(e)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, model.NotFoundf("infra-env %s has no static network settings", e.Name)
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: strings.TrimPrefix(f.Path, "/"), Mode: int64(f.Mode), Size: int64(len(f.Content)), ModTime: e.UpdatedAt.Truncate(time.Second),
		})
		if err == nil {
			_, err = archive.Write(f.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack network settings: %w", err)
	}
	return out.Bytes(), nil
}
