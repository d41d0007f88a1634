package ignition

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// newestConfigs are the newest versions of a config that the system of an OpenShift version supports: a later
// one became stable after its release (release notes of coreos/ignition: 3.2.0 in October 2020, 3.3.0 in June
// 2021, 3.4.0 in February 2023, 3.5.0 in October 2024). An Ignition that does not support a version does not
// boot.
var newestConfigs = []struct{ before, config *semver.Version }{
	{semver.MustParse("4.7.0"), semver.MustParse("3.1.0")},
	{semver.MustParse("4.9.0"), semver.MustParse("3.2.0")},
	{semver.MustParse("4.13.0"), semver.MustParse("3.3.0")},
	{semver.MustParse("4.18.0"), semver.MustParse("3.4.0")},
}

// checkKnown refuses a config that the system of an OpenShift version cannot read; an invalid version reads
// all.
func checkKnown(config []byte, openShiftVersion string) error {
	number, _, _ := strings.Cut(openShiftVersion, "-")
	system, err := semver.NewVersion(number)
	if err != nil {
		return nil //nolint:nilerr // it is not known what it reads
	}
	version, err := document.Version(config)
	if err != nil {
		return err
	}
	for _, newest := range newestConfigs {
		if !system.LessThan(newest.before) {
			continue
		}
		if version.GreaterThan(newest.config) {
			return model.Invalidf(
				"ignition_config_override: ignition.version: require at most %s, which the system of OpenShift %s reads, found %s",
				newest.config,
				openShiftVersion,
				version,
			)
		}
		return nil
	}
	return nil
}

// checkLive refuses settings that only an installed system supports. A live one cannot change its kernel
// arguments, and does not boot when its config requires that (ignition-kargs-helper of
// coreos/fedora-coreos-config).
func checkLive(config []byte) error {
	var c struct {
		KernelArguments struct {
			ShouldExist    []string `json:"shouldExist"`
			ShouldNotExist []string `json:"shouldNotExist"`
		} `json:"kernelArguments"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	if len(c.KernelArguments.ShouldExist)+len(c.KernelArguments.ShouldNotExist) > 0 {
		return model.Invalidf("ignition_config_override: invalid Ignition config: " +
			"kernelArguments: require none in a live system, which cannot change its own; set kernel_arguments of the InfraEnv")
	}
	return nil
}

// Disconnected completes the config that the installer made for a disconnected image of an InfraEnv: it starts
// the installer's pages, and adds what the installer does not support, the trust bundle and the user's
// override. A fault of the override is a model.ErrInvalid.
func Disconnected(config []byte, e *model.InfraEnv) ([]byte, error) {
	names := []string{"interactive"}
	if e.AdditionalTrustBundle != "" {
		names = append(names, "trust-bundle")
	}
	ours, err := render(map[string]string{"TrustBundle": e.TrustBundle()}, names...)
	if err != nil {
		return nil, fmt.Errorf("build config of a disconnected image: %w", err)
	}
	merged, err := document.Merge(config, ours)
	if err != nil {
		return nil, fmt.Errorf("merge config of a disconnected image: %w", err)
	}
	return applyLive(merged, override{"ignition_config_override", e.IgnitionConfigOverride})
}

// applyLive lays overrides over the config of a live system.
func applyLive(base []byte, overrides ...override) ([]byte, error) {
	config, err := apply(base, overrides...)
	if err == nil {
		err = checkLive(config)
	}
	return config, err
}
