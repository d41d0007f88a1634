// Package ignition builds the Ignition configs of a host's life: the config its discovery image boots with, the config of the bootstrap
// services, and the config it is installed with. The service's own parts are Butane templates; configs of the OpenShift installer and
// of users are merged with them and checked by coreos/ignition.
package ignition

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// ServiceCAPath is where a host finds the certificate authority of the service
// (docs/reference/ignition.md, "Certificate authority of the service").
const ServiceCAPath = "/etc/assisted-service/service-ca-cert.crt"

// Empty is a config that does nothing; the role configs of a single-node installation.
const Empty = `{"ignition":{"version":"3.2.0"}}`

// maxOverride bounds a user's additions to a config, in bytes.
const maxOverride = 1 << 20

// HostFileName returns the name of a host's installation config among the files of its cluster.
func HostFileName(role model.Role, hostID uuid.UUID) string {
	return fmt.Sprintf("%s-%s.ign", role, hostID)
}

// CheckOverride returns an error when a user's config, of Ignition or Butane, cannot be merged with the
// service's; empty is valid. The error is a model.ErrInvalid that names the place of every fault.
func CheckOverride(override string) error {
	_, err := readOverride(override)
	return err
}

// readOverride returns the Ignition config of an override, checked; nil when it is empty.
func readOverride(override string) ([]byte, error) {
	if len(override) > maxOverride {
		return nil, model.Invalidf("require a config of at most %d bytes, found %d", maxOverride, len(override))
	}
	if strings.TrimSpace(override) == "" {
		return nil, nil
	}
	config, err := toIgnition(override)
	if err != nil {
		return nil, err
	}
	for _, check := range []func([]byte) error{document.Check, document.CheckContents, checkAdds} {
		if err := check(config); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// checkAdds refuses a config that replaces the service's when a machine boots.
func checkAdds(config []byte) error {
	var c struct {
		Ignition struct {
			Config struct {
				Replace struct {
					Source string `json:"source"`
				} `json:"replace"`
			} `json:"config"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	if c.Ignition.Config.Replace.Source != "" {
		return model.Invalidf(
			"invalid Ignition config: ignition.config.replace: use merge, because nothing of the service's config would be left",
		)
	}
	return nil
}

// apply lays overrides over base in their order. An error names the field the override
// came from.
func apply(base []byte, overrides ...override) ([]byte, error) {
	for _, o := range overrides {
		config, err := readOverride(o.config)
		if err != nil {
			return nil, prefixed(o.field, err)
		}
		if config == nil {
			continue
		}
		merged, err := document.Merge(base, config)
		if err == nil {
			err = document.CheckPaths(merged)
		}
		if err != nil {
			return nil, prefixed(o.field, err)
		}
		base = merged
	}
	return base, nil
}

// override is a config of a user or another service, and the field it was in.
type override struct{ field, config string }

func prefixed(field string, err error) error {
	if errors.Is(err, model.ErrInvalid) {
		return model.Invalidf("%s: %s", field, err)
	}
	return fmt.Errorf("merge %s: %w", field, err)
}
