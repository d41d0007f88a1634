package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// resettable are the validations whose fact is asked for once, so that a failure stays
// until it is forgotten; all others are asked for again by themselves.
var resettable = []struct {
	id     wire.HostValidationID
	forget func(*model.Host)
}{
	{wire.HostValidationIDContainerImagesAvailable, func(h *model.Host) {
		h.Images = nil
		delete(h.Facts, model.Fact(wire.StepTypeContainerImageAvailability))
	}},
	{wire.HostValidationIDSufficientInstallationDiskSpeed, func(h *model.Host) {
		h.DiskSpeed = nil
		delete(h.Facts, model.Fact(wire.StepTypeInstallationDiskSpeedCheck))
	}},
}

// V2ResetHostValidation forgets the fact that a validation of a host was decided by, so that the host is asked again.
func (s *server) V2ResetHostValidation(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID, validationID string) error {
	names := make([]string, len(resettable))
	for i, v := range resettable {
		names[i] = string(v.id)
	}
	at := slices.Index(names, validationID)
	if at < 0 {
		return model.Invalidf("validation_id: require %s, found %q", strings.Join(names, " or "), validationID)
	}
	return s.changeHost(ok, w, r, infraEnvID, hostID, func(h *model.Host, _ *store.Tx) error {
		resettable[at].forget(h)
		return nil
	})
}
