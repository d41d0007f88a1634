package service

import (
	"regexp"
	"strings"

	"slipway/internal/version"
)

// Names of components, as clients know them.
const (
	componentInstaller  = "assisted-installer"
	componentController = "assisted-installer-controller"
	componentService    = "assisted-installer-service"
	componentAgent      = "discovery-agent"
)

// componentVersions are the parts of this service. Agents of the v2 API receive
// the first two as images; ours brings both itself.
func componentVersions() map[string]string {
	v := tag(version.Read().Short())
	return map[string]string{
		componentInstaller:  "slipway/installer:" + v,
		componentController: "slipway/controller:" + v,
		componentService:    "slipway/service:" + v,
		componentAgent:      "slipway/agent:" + v,
	}
}

// tag is a version as the tag of an image: builds from a checkout have blanks in theirs.
func tag(version string) string {
	return strings.Trim(notInTags.ReplaceAllString(version, "-"), "-.")
}

// notInTags are the characters that tags of images do not have (OCI distribution, references).
var notInTags = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// components are the parts of this service, with the images a deployment names.
func (s *Service) components() map[string]string {
	out := componentVersions()
	for name, image := range map[string]string{
		componentAgent: s.variables.AgentImage, componentInstaller: s.variables.InstallerImage, componentController: s.variables.ControllerImage,
	} {
		if image != "" {
			out[name] = image
		}
	}
	return out
}
