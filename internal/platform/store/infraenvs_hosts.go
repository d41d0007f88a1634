package store

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// InfraEnvsOf lists the discovery environments of a cluster: its own, and those whose
// hosts were bound to it later.
func (s *Store) InfraEnvsOf(ctx context.Context, clusterID uuid.UUID, hosts []*model.Host) ([]*model.InfraEnv, error) {
	envs, err := s.InfraEnvs(ctx, InfraEnvFilter{ClusterID: clusterID})
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if slices.ContainsFunc(envs, func(e *model.InfraEnv) bool { return e.ID == h.InfraEnvID }) {
			continue
		}
		e, err := s.InfraEnv(ctx, h.InfraEnvID)
		if err != nil {
			return nil, err
		}
		envs = append(envs, e)
	}
	return envs, nil
}
