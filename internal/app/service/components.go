package service

import (
	"cmp"
	"regexp"
	"strings"

	"slipway/activities"
	"slipway/internal/version"
)

// Names of components, as clients know them.
const (
	componentInstaller  = "assisted-installer"
	componentController = "assisted-installer-controller"
	componentService    = "assisted-installer-service"
	componentAgent      = "discovery-agent"
)

// agentVersion names Slipway's agents: their program, and the version of this service.
func agentVersion() string { return "slipway-agent-" + tag(version.Read().Short()) }

// tag returns a version without what clients do not expect in one: builds from a checkout have blanks in theirs.
func tag(version string) string {
	return strings.Trim(notInTags.ReplaceAllString(version, "-"), "-.")
}

// notInTags are the characters that tags of images do not have (OCI distribution, references).
var notInTags = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// components lists the parts of this service, with the images a deployment names. Agents of other
// implementations install with the images of their project where it names none; ours needs no image.
func (s *Service) components() map[string]string {
	return map[string]string{
		componentInstaller:  cmp.Or(s.variables.InstallerImage, activities.ForeignInstaller),
		componentController: cmp.Or(s.variables.ControllerImage, activities.ForeignController),
		componentService:    "slipway-" + tag(version.Read().Short()),
		componentAgent:      cmp.Or(s.variables.AgentImage, agentVersion()),
	}
}
