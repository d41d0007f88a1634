package wire

// ExitInterrupted is the exit code of a step that was running when its agent was
// restarted (EX_TEMPFAIL of sysexits.h): how far it came is not known.
const ExitInterrupted = 75

// ExitFenced is the exit code of a step that the agent refuses to run, because it is for another boot or of an attempt
// that is over (EX_NOPERM of sysexits.h).
const ExitFenced = 77

// Headers of our own agent; other agents send neither.
const (
	// HeaderSteps announces on registration which steps an agent takes; StepsFine is its only value.
	HeaderSteps = "Slipway-Steps"
	StepsFine   = "fine"
	// HeaderBoot names the boot of the host, on registration and on polls (docs/steps-and-results.md, "Fences").
	HeaderBoot = "Slipway-Boot"
	// HeaderRegistration marks a registration that is not the first of this boot; RegistrationAgain is its only value.
	HeaderRegistration = "Slipway-Registration"
	RegistrationAgain  = "again"
	// HeaderToken gives a Slipway agent the token of its host, in answers to registrations and polls.
	HeaderToken = "Slipway-Token"
	// HeaderKubeKey names the resource of Kubernetes, NAMESPACE/NAME, that defines the object a request makes or changes.
	HeaderKubeKey = "Slipway-Kube-Key"
	// HeaderPrefer asks the service to hold a poll until a step is due: "wait=30" (RFC 7240, section 4.3).
	HeaderPrefer = "Prefer"
)

// AgentUpgrade is the argument of the step upgrade-agent for a Slipway agent: its new version, and the place of its program for each
// architecture ("x86_64", "arm64"...).
type AgentUpgrade struct {
	AgentImage string                  `json:"agent_image"`
	Programs   map[string]AgentProgram `json:"programs"`
}

// AgentUpgraded is the output of the step upgrade-agent of a Slipway agent.
type AgentUpgraded struct {
	UpgradeAgentResponse
	// Refused says why the agent trusts none of the programs; empty where it does.
	Refused string `json:"refused,omitempty"`
}

// BootstrapRequest is the argument of the steps of a bootstrap host: an InstallCmdRequest and the further inputs of the controller's
// manifests.
type BootstrapRequest struct {
	InstallCmdRequest
	// Attempt counts the installations of the cluster. A host may begin the bootstrap of one attempt in a boot.
	Attempt int `json:"attempt,omitempty"`
	// Controller is how the controller runs in an image of the release; nil where ControllerImage contains it.
	Controller *ControllerProgram `json:"controller,omitempty"`
	// ControllerToken is the controller's credential; empty: the agent's token.
	ControllerToken string `json:"controller_token,omitempty"`
}

// ControllerProgram is the controller as a program that a pod of the new cluster fetches.
type ControllerProgram struct {
	// Image is the pull specification of the image it runs in, the component cli of the release.
	Image string `json:"image"`
	// Programs are the service's programs, by architecture ("x86_64", "arm64"...).
	Programs map[string]AgentProgram `json:"programs"`
}

// AgentProgram is a program the service offers below its root, and its hash in hex.
type AgentProgram struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Signatures let one host become the program (package programsig), by each key of the service; empty for other programs.
	Signatures []string `json:"signatures,omitempty"`
}
