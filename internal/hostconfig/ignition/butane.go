package ignition

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/coreos/butane/config"
	"github.com/coreos/butane/config/common"
	"github.com/coreos/vcontext/report"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/useryaml"
	"slipway/internal/model"
)

// variants are the kinds of Butane config that can be merged into the service's: the kinds for the operating system of hosts. Other
// kinds are for systems with other layouts of disks and services, or not for hosts at all.
var variants = []string{"fcos", "openshift"}

// toIgnition returns a user's Ignition config: as written, or as translated by Butane. A Butane config is
// recognised by its variant, which Ignition does not have. An error is a model.ErrInvalid that names the place
// in the user's text.
func toIgnition(text string) ([]byte, error) {
	var head struct {
		Variant any `json:"variant"`
	}
	switch {
	case json.Valid([]byte(text)):
		_ = json.Unmarshal([]byte(text), &head) // a value that is not an object has no variant either
		if head.Variant == nil {
			return []byte(text), nil
		}
	case strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.Contains(text, "variant"):
		return []byte(text), nil // broken JSON: its parser reports the place
	}
	if err := useryaml.Check([]byte(text), maxOverride); err != nil {
		return nil, model.Invalidf("invalid Butane config: %s", err)
	}
	if err := yaml.Unmarshal([]byte(text), &head); err != nil {
		return nil, model.Invalidf(
			"require an Ignition config in JSON or a Butane config in YAML: %s",
			strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "),
		)
	}
	variant, _ := head.Variant.(string)
	switch {
	case head.Variant == nil:
		return nil, model.Invalidf("must be an Ignition config in JSON, or a Butane config with a variant")
	case !slices.Contains(variants, variant):
		return nil, model.Invalidf(
			"invalid Butane config: variant: require one of %s, found %v",
			strings.Join(variants, ", "),
			head.Variant,
		)
	}
	return translate(text)
}

// translate never reads a file: without a folder for them Butane refuses local ones.
func translate(text string) ([]byte, error) {
	ignition, found, err := config.TranslateBytes([]byte(text), common.TranslateBytesOptions{
		TranslateOptions: common.TranslateOptions{NoResourceAutoCompression: true},
		Raw:              true, // of variant openshift its Ignition config, not the MachineConfig around it
	})
	var faults []string
	for _, e := range found.Entries {
		if e.Kind.IsFatal() || ignored(e) {
			faults = append(faults, explainButane(e))
		}
	}
	if err != nil && len(faults) == 0 {
		faults = []string{explainWhole(err)}
	}
	if len(faults) > 0 {
		return nil, model.Invalidf("invalid Butane config: %s", strings.Join(faults, "; "))
	}
	return ignition, nil
}

// ignored reports a warning that a setting of the user would have no effect: an unknown key, or a setting of
// MachineConfigs, which Ignition cannot have.
func ignored(e report.Entry) bool {
	return strings.HasPrefix(strings.ToLower(e.Message), "unused key") || e.Message == common.ErrFieldElided.Error()
}

// explainButane describes a fault and its place. A file that is local to Butane would be a file of the service.
func explainButane(e report.Entry) string {
	if e.Message == common.ErrNoFilesDir.Error() {
		e.Message = "local files are not available here; give the contents inline or at an address"
	}
	text := strings.TrimPrefix(e.String(), e.Kind.String())
	return strings.TrimPrefix(strings.TrimPrefix(text, " at "), ": ")
}

func explainWhole(err error) string {
	var version common.ErrUnknownVersion
	switch {
	case errors.Is(err, common.ErrInvalidVersion):
		return "version: must be like 1.1.0"
	case errors.As(err, &version):
		return "version: require one that variant " + version.Variant + " has, found " + version.Version.String()
	}
	return err.Error()
}
