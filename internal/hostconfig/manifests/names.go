package manifests

import (
	"regexp"
	"strings"
	"unicode"

	"slipway/internal/model"
)

// maxName bounds the name of a file, in bytes: file systems take 255, and the pieces of
// a file with several documents get longer names.
const maxName = 200

// fileName matches a file name that the installer accepts: YAML, JSON, or a patch of YAML.
var fileName = regexp.MustCompile(`\.(json|ya?ml(\.patch_?[a-zA-Z0-9_]*)?)$`)

// CheckName returns an error when a manifest cannot have a name (docs/reference/ignition.md, "Rules for
// manifests"). The error is a model.ErrUnprocessable.
func CheckName(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`):
		return model.Unprocessablef("file_name: require a name without a path, found %q", name)
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return model.Unprocessablef("file_name: require a name without spaces, found %q", name)
	case strings.HasPrefix(name, "."):
		return model.Unprocessablef("file_name: require a name that does not begin with a dot, found %q", name)
	case len(name) > maxName || !fileName.MatchString(name):
		return model.Unprocessablef(
			"file_name: require a name of at most %d bytes that ends in .json, .yaml, .yml or, for a patch, .yaml.patch_name, found %q",
			maxName,
			name,
		)
	}
	return nil
}

// IsPatch reports whether a file changes another manifest instead of adding one.
func IsPatch(name string) bool { return strings.Contains(name, ".patch") }
