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

	"slipway/api/admission"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// V2DownloadInfraEnvFiles gives a booting host its discovery config, a script to boot
// over the network, or the network settings of all hosts.
func (s *server) V2DownloadInfraEnvFiles(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DownloadInfraEnvFilesParams,
) error {
	e, err := s.Store.InfraEnv(r.Context(), id)
	if err != nil {
		return err
	}
	switch params.FileName {
	case wire.V2DownloadInfraEnvFilesParamsFileNameIpxeScript:
		// Never the same for long: it holds a token with an end, and knows whether its machine was installed.
		script, err := s.ipxeScript(r.Context(), e, params, admission.CallerOf(r).ExpiresAt)
		if err != nil {
			return err
		}
		return answerFile(w, file{name: string(params.FileName), changed: e.UpdatedAt}, script)
	case wire.V2DownloadInfraEnvFilesParamsFileNameStaticNetworkConfig:
		if e.StaticNetworkConfig == "" {
			return model.NotFoundf("infra-env %s has no static network settings", e.Name)
		}
		return s.answerUnlessKnown(w, r, s.networkFile(e), func() ([]byte, error) { return s.staticNetworkArchive(e) })
	default:
		return s.answerDiscovery(w, r, e, or(string(params.DiscoveryIsoType), e.ImageType))
	}
}

func (s *server) answerDiscovery(w http.ResponseWriter, r *http.Request, e *model.InfraEnv, imageType string) error {
	if imageType == string(wire.ImageTypeDisconnectedIso) {
		return s.answerDisconnected(w, r, e)
	}
	agent, err := s.agentOf(e)
	if err != nil {
		return err
	}
	known, err := s.discoveryFile(e, imageType, agent)
	if err != nil {
		return err
	}
	return s.answerUnlessKnown(w, r, known, func() ([]byte, error) { return s.discoveryIgnition(e, imageType, agent) })
}

// DownloadMinimalInitrd gives an image what it needs before it can fetch its root file
// system; most need nothing.
func (s *server) DownloadMinimalInitrd(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	e, err := s.Store.InfraEnv(r.Context(), id)
	switch {
	case err != nil:
		return err
	case e.StaticNetworkConfig == "" && e.Proxy == model.Proxy{}:
		return noContent(w)
	default:
		return s.answerUnlessKnown(w, r, s.initrdFile(e), func() ([]byte, error) { return s.minimalInitrd(e) })
	}
}

// agentOf returns the program of the agent for an InfraEnv; a model.ErrConflict when the service has none for its architecture.
func (s *server) agentOf(e *model.InfraEnv) (ignition.Agent, error) {
	name, sum, err := s.agents.find(e.CPUArchitecture)
	if errors.Is(err, model.ErrNotFound) {
		err = model.Conflictf("discovery config of infra-env %s cannot be made: %s", e.Name, err)
	}
	agent := ignition.Agent{URL: s.BaseURL + agentPath + name, SHA256: sum, Version: s.AgentVersion}
	if s.ProgramKey != nil {
		agent.Key = s.ProgramKey()
	}
	return agent, err
}

// discoveryIgnition makes the config of a type of image. All it depends on is in the file
// that discoveryFile describes.
func (s *server) discoveryIgnition(e *model.InfraEnv, imageType string, agent ignition.Agent) ([]byte, error) {
	token, err := s.Identity.AgentToken(e)
	if err != nil {
		return nil, err
	}
	var network []staticnet.File
	if imageType != string(wire.ImageTypeMinimalIso) {
		if network, err = s.staticNetworkFiles(e); err != nil {
			return nil, err
		}
	}
	return ignition.Discovery(ignition.DiscoveryInput{
		InfraEnv: e, ServiceURL: s.BaseURL, ServiceCA: s.ServiceCA, Insecure: s.Insecure, Deployment: s.Ignition,
		AgentToken: token.Secret, Agent: agent, OpenShiftVersion: s.images.Version(e), StaticNetwork: network, NetworkMethod: s.networkMethod(e),
	})
}

// networkMethod returns how the system of an image applies network settings.
func (s *server) networkMethod(e *model.InfraEnv) staticnet.Method {
	return staticnet.MethodFor(s.images.Version(e))
}

func (s *server) minimalInitrd(e *model.InfraEnv) ([]byte, error) {
	in := s.initrdInput(e)
	hosts, err := s.networks.parse(in.Network)
	if err != nil {
		return nil, staleNetwork(e, err)
	}
	return staticnet.MinimalInitrd(hosts, in.Proxy, in.Method, in.Delay)
}

func (s *server) staticNetworkFiles(e *model.InfraEnv) ([]staticnet.File, error) {
	hosts, err := s.networks.parse(e.StaticNetworkConfig)
	if err != nil {
		return nil, staleNetwork(e, err)
	}
	return staticnet.Files(hosts, s.networkMethod(e))
}

// staleNetwork makes the error for settings that a version with looser rules accepted.
func staleNetwork(e *model.InfraEnv, err error) error {
	return model.Conflictf("network settings of infra-env %s have to be set again: %s", e.Name, err)
}

// staticNetworkArchive packs the network settings of all hosts (tar), for people who look
// into them and for tools that put them into images of their own.
func (s *server) staticNetworkArchive(e *model.InfraEnv) ([]byte, error) {
	files, err := s.staticNetworkFiles(e)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: strings.TrimPrefix(f.Path, "/"), Mode: int64(f.Mode), Size: int64(len(f.Content)),
			ModTime: e.UpdatedAt.Truncate(time.Second),
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
