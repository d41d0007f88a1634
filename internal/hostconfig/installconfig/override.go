package installconfig

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"slipway/internal/model"
)

// override merges a user's JSON object over the install-config: objects are merged, lists element by element.
// Fields that the install-config does not have are refused.
func (c *InstallConfig) override(overrides string) error {
	if strings.TrimSpace(overrides) == "" {
		return nil
	}
	if !utf8.ValidString(overrides) {
		return model.Invalidf("install_config_overrides: must be text in UTF-8")
	}
	if !strings.HasPrefix(strings.TrimSpace(overrides), "{") {
		return model.Invalidf("install_config_overrides: require a JSON object, found %.20q", strings.TrimSpace(overrides))
	}
	d := json.NewDecoder(strings.NewReader(overrides))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return model.Invalidf("install_config_overrides: %s", describe(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return model.Invalidf("install_config_overrides: must be one JSON object, more text follows after byte %d", d.InputOffset())
	}
	return checkText(overrides)
}

// checkText refuses characters that YAML does not allow (YAML 1.2, 5.1): the install-config would be written
// and could not be read.
func checkText(overrides string) error {
	var tree any
	if err := json.Unmarshal([]byte(overrides), &tree); err != nil {
		return model.Invalidf("install_config_overrides: %s", describe(err))
	}
	if text, found := unwritable(tree); found {
		return model.Invalidf("install_config_overrides: require text without control characters, found %q", text)
	}
	return nil
}

// unwritable finds a text with such a character.
func unwritable(tree any) (string, bool) {
	switch node := tree.(type) {
	case string:
		return node, strings.ContainsFunc(node, func(r rune) bool {
			return r != '\t' && r != '\n' && r != '\r' && r != 0x85 && unicode.IsControl(r) || r == 0xfffe || r == 0xffff
		})
	case map[string]any:
		for key, value := range node {
			if text, found := unwritable(key); found {
				return text, true
			}
			if text, found := unwritable(value); found {
				return text, true
			}
		}
	case []any:
		for _, value := range node {
			if text, found := unwritable(value); found {
				return text, true
			}
		}
	}
	return "", false
}

// describe describes the fault of an override by the names of its own fields.
func describe(err error) string {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return "require " + mistyped.Field + " to be of type " + mistyped.Type.String() + ", found " + mistyped.Value
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return "not valid JSON: " + syntax.Error()
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// CheckOverride returns an error when a user's override cannot be merged over an install-config; empty is
// valid. The error is a model.ErrInvalid that names the field.
func CheckOverride(overrides string) error {
	return (&InstallConfig{}).override(overrides)
}

// WantsFIPS reports whether a cluster's override puts it in FIPS mode.
func WantsFIPS(cluster *model.Cluster) bool {
	var given InstallConfig
	return given.override(cluster.InstallConfigOverride) == nil && given.FIPS
}

// CheckOverrideOf returns an error when an override does not fit a cluster as it is now. Values that the
// cluster still lacks are no fault of the override.
func CheckOverrideOf(cluster *model.Cluster, hosts []*model.Host, overrides string, opts Options) error {
	if err := CheckOverride(overrides); err != nil {
		return err
	}
	changed := *cluster
	changed.InstallConfigOverride = overrides
	_, err := Build(&changed, hosts, opts)
	if errors.Is(err, model.ErrUnprocessable) {
		return nil
	}
	return err
}
