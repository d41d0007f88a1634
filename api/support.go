package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// GetSupportedFeatures returns the support level of each feature for a version, architecture and platform.
func (s *server) GetSupportedFeatures(w http.ResponseWriter, r *http.Request, params wire.GetSupportedFeaturesParams) error {
	levels, err := operators.Features.Levels(features.Setting{
		Version: params.OpenshiftVersion, Architecture: string(params.CPUArchitecture),
		Platform: string(params.PlatformType), ExternalName: params.ExternalPlatformName,
	})
	if err != nil {
		return err
	}
	out := wire.SupportLevels{}
	for id, level := range levels {
		out[string(id)] = wire.SupportLevel(level)
	}
	return ok(w, map[string]wire.SupportLevels{"features": out})
}

// GetDetailedSupportedFeatures returns the support levels with reasons and incompatible features.
func (s *server) GetDetailedSupportedFeatures(
	w http.ResponseWriter,
	r *http.Request,
	params wire.GetDetailedSupportedFeaturesParams,
) error {
	setting := features.Setting{
		Version: params.OpenshiftVersion, Architecture: string(params.CPUArchitecture),
		Platform: string(params.PlatformType), ExternalName: params.ExternalPlatformName,
	}
	if err := features.CheckPlatform(setting); err != nil {
		return err
	}
	list, err := operators.Features.Detailed(setting)
	out := struct {
		Features  []wire.Feature  `json:"features"`
		Operators []wire.Operator `json:"operators"`
	}{[]wire.Feature{}, []wire.Operator{}}
	for _, f := range list {
		id, level, reason := wire.FeatureSupportLevelID(f.ID), wire.SupportLevel(f.Level), wire.IncompatibilityReason(f.Reason)
		if f.Operator == "" {
			out.Features = append(out.Features, wire.Feature{
				FeatureSupportLevelID: id, SupportLevel: level, Reason: reason, Incompatibilities: featureIDs(f.Incompatibilities),
			})
			continue
		}
		out.Operators = append(out.Operators, wire.Operator{
			FeatureSupportLevelID: id, SupportLevel: level, Reason: reason, Incompatibilities: featureIDs(f.Incompatibilities),
			Name: f.Operator, Dependencies: featureIDs(f.Dependencies),
		})
	}
	if err != nil {
		return err
	}
	return ok(w, out)
}

func featureIDs(list []features.ID) []wire.FeatureSupportLevelID {
	out := make([]wire.FeatureSupportLevelID, len(list))
	for i, id := range list {
		out[i] = wire.FeatureSupportLevelID(id)
	}
	return out
}

// GetSupportedArchitectures returns the support level of each architecture for a version.
func (s *server) GetSupportedArchitectures(w http.ResponseWriter, r *http.Request, params wire.GetSupportedArchitecturesParams) error {
	levels, err := features.Architectures(params.OpenshiftVersion)
	if err != nil {
		return err
	}
	out := wire.SupportLevels{}
	for id, level := range levels {
		out[string(id)] = wire.SupportLevel(level)
	}
	return ok(w, map[string]wire.SupportLevels{"architectures": out})
}

// GetClusterSupportedPlatforms lists the platforms that fit the hosts and settings of a cluster.
func (s *server) GetClusterSupportedPlatforms(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	platforms, err := s.supportedPlatforms(r.Context(), id)
	if err != nil {
		return err
	}
	return ok(w, platforms)
}

func (s *server) supportedPlatforms(ctx context.Context, id uuid.UUID) ([]wire.PlatformType, error) {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	var hosts []*model.Host
	err = s.Store.Hosts(ctx, store.HostFilter{ClusterID: id}, func(h *model.Host) error {
		hosts = append(hosts, h)
		return nil
	})
	out := []wire.PlatformType{}
	for _, name := range validation.SupportedPlatforms(c, hosts) {
		out = append(out, wire.PlatformType(name))
	}
	return out, err
}

// V2ListManagedDomains lists the DNS domains whose records are kept for clusters.
func (s *server) V2ListManagedDomains(w http.ResponseWriter, r *http.Request) error {
	out := wire.ListManagedDomains{}
	for _, d := range s.Domains {
		out = append(out, wire.ManagedDomain{Domain: d.Name, Provider: wire.ManagedDomainProvider(d.Provider)})
	}
	return ok(w, out)
}
