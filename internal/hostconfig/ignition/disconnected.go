package ignition

import (
	"fmt"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// Disconnected completes the config that the installer made for a disconnected image of an InfraEnv: it starts
// the installer's pages, and adds what the installer does not support, the trust bundle and the user's
// override. A fault of the override is a model.ErrInvalid.
func Disconnected(config []byte, e *model.InfraEnv) ([]byte, error) {
	names := []string{"interactive"}
	if e.AdditionalTrustBundle != "" {
		names = append(names, "trust-bundle")
	}
	ours, err := render(map[string]string{"TrustBundle": e.AdditionalTrustBundle}, names...)
	if err != nil {
		return nil, fmt.Errorf("build config of a disconnected image: %w", err)
	}
	merged, err := document.Merge(config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge config of a disconnected image: %w", err)
	}
	return applyLive(merged, override{"ignition_config_override", e.IgnitionConfigOverride})
}
