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

// variants are the kinds of Butane config that can be laid over ours: those of the
// system that hosts run. The others are of systems that lay out their disks and services
// in another way, or no systems of hosts at all.
var variants = []string{"fcos", "openshift"}

// toIgnition is the Ignition config that a user means: what they wrote, or what Butane
// makes of it. Butane is known by its variant, which Ignition does not have. An error is
// a model.ErrInvalid that tells the place in the text of the user.
func toIgnition(text string) ([]byte, error) {
	var head struct {
		Variant any `json:"variant"`
	}
	switch {
	case json.Valid([]byte(text)):
		_ = json.Unmarshal([]byte(text), &head) // what is no object has no variant either
		if head.Variant == nil {
			return []byte(text), nil
		}
	case strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.Contains(text, "variant"):
		return []byte(text), nil // broken JSON: its reader tells where
	}
	if err := useryaml.Check([]byte(text), maxOverride); err != nil {
		return nil, model.Invalidf("invalid Butane config: %s", err)
	}
	if err := yaml.Unmarshal([]byte(text), &head); err != nil {
		return nil, model.Invalidf("require an Ignition config in JSON or a Butane config in YAML: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	variant, _ := head.Variant.(string)
	switch {
	case head.Variant == nil:
		return nil, model.Invalidf("require an Ignition config in JSON, or a Butane config with a variant; found neither")
	case !slices.Contains(variants, variant):
		return nil, model.Invalidf("invalid Butane config: variant: require one of %s, found %v", strings.Join(variants, ", "), head.Variant)
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

// ignored reports a warning that something the user wrote would come to nothing: a key
// that there is not, or a setting of MachineConfigs, which Ignition cannot have.
func ignored(e report.Entry) bool {
	return strings.HasPrefix(strings.ToLower(e.Message), "unused key") || e.Message == common.ErrFieldElided.Error()
}

// explainButane tells a fault and its place. A file that is local to Butane would be one
// of the service.
func explainButane(e report.Entry) string {
	if e.Message == common.ErrNoFilesDir.Error() {
		e.Message = "require the contents inline or at an address, found a local file, which is not here"
	}
	text := strings.TrimPrefix(e.String(), e.Kind.String())
	return strings.TrimPrefix(strings.TrimPrefix(text, " at "), ": ")
}

func explainWhole(err error) string {
	var version common.ErrUnknownVersion
	switch {
	case errors.Is(err, common.ErrInvalidVersion):
		return "version: require one like 1.1.0, found another"
	case errors.As(err, &version):
		return "version: require one that variant " + version.Variant + " has, found " + version.Version.String()
	}
	return err.Error()
}
