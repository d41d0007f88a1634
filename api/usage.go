package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// showUsage returns how many bytes are kept from the hosts of an InfraEnv.
func (s *server) showUsage(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "infra_env_id")
	if err != nil {
		return err
	}
	if _, err := s.Store.InfraEnv(r.Context(), id); err != nil {
		return err
	}
	kept, err := s.Store.Usage(r.Context(), id, uuid.Nil)
	if err != nil {
		return err
	}
	usage := wire.KeptBytes{Bytes: kept.InfraEnv, OwnerBytes: kept.Tenant}
	if s.Quota != nil {
		usage.LimitBytes, usage.OwnerLimitBytes = s.Quota.InfraEnv, s.Quota.Tenant
	}
	return ok(w, usage)
}
