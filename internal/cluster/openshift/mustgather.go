package openshift

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// MustGatherImages lists must-gather images beside the images of releases: by minor version and architecture, as in "4.20-x86_64", then
// by operator.
type MustGatherImages map[string]map[string]string

// gatherOperators are the names that agents accept: of the release, and of operators (openshift/assisted-installer-agent,
// src/commands/actions). ocs is an older name of odf.
var gatherOperators = []string{"ocp", "cnv", "lso", "ocs", "odf"}

var gatherKey = regexp.MustCompile(`^[0-9]+\.[0-9]+-(x86_64|arm64|ppc64le|s390x|multi)$`)

// ParseMustGatherImages reads a JSON object. It returns a model.ErrInvalid that names the fault.
func ParseMustGatherImages(data []byte) (MustGatherImages, error) {
	var out MustGatherImages
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, model.Invalidf("require a JSON object of objects, such as {\"4.20-x86_64\": {\"odf\": \"IMAGE\"}}: %s", err)
	}
	for _, key := range slices.Sorted(maps.Keys(out)) {
		if !gatherKey.MatchString(key) {
			return nil, model.Invalidf("require keys of a minor version and an architecture, such as 4.20-x86_64, found %q", key)
		}
		for _, operator := range slices.Sorted(maps.Keys(out[key])) {
			image := out[key][operator]
			registry, _, ok := strings.Cut(image, "/")
			switch {
			case !slices.Contains(gatherOperators, operator):
				return nil, model.Invalidf("%s: require one of %s, found %q", key, strings.Join(gatherOperators, ", "), operator)
			case !ok || !strings.ContainsAny(registry, ".:"):
				return nil, model.Invalidf("%s: %s: require an image with its registry, found %q", key, operator, image)
			}
		}
	}
	return out, nil
}

// For returns the images for a cluster, by operator.
func (m MustGatherImages) For(c *model.Cluster) map[string]string {
	v, err := semver.NewVersion(c.OpenShiftVersion)
	if err != nil {
		return nil
	}
	architecture := c.CPUArchitecture
	if architecture == "aarch64" {
		architecture = "arm64"
	}
	return m[fmt.Sprintf("%d.%d-%s", v.Major(), v.Minor(), architecture)]
}
