// Package steps is the catalogue of the steps a host runs, and the one list of the stages
// its installation passes. Workflows, activities, discovery, agent and documentation read
// it; it holds data only, so that the agent can import it.
package steps

import (
	"slices"
	"time"

	"slipway/internal/wire"
)

// Step is one row of the catalogue.
type Step struct {
	Type wire.StepType
	// Does says what the step does on the host, for the documentation.
	Does string
	// Agents are the kinds of agents that run the step.
	Agents Agents
	// Timeout is how long the step takes on the host at most. Workflows have limits of their own: the time-outs of the step's stage.
	Timeout time.Duration
	// WritesDisk marks steps that no workflow commands twice unless it knows how far the
	// first try came.
	WritesDisk bool
	// ChangesHost marks steps that stop-installation ends and that a newer step of the type
	// replaces; the agent remembers their ids as long as the boot lasts.
	ChangesHost bool
	// Exclusive refuses a newer step of the type instead of replacing the running one:
	// services of other implementations command install anew, with another id, until they see it run.
	Exclusive bool
	// WithoutMedia steps run even if the boot medium cannot be read any more.
	WithoutMedia bool
	// Check marks the checks before a disk is written. Workflows run all of them together,
	// and an operator may disable them.
	Check    bool
	Argument Argument
	Needs    Needs
	Reply    Reply
}

// OfBoot reports whether the step is valid only in the boot for which it was commanded: a step that checks or installs a host. A host
// is sent back to its InfraEnv from its installed system, by an agent that does not register.
func (s Step) OfBoot() bool { return s.Check || s.Argument == ArgumentInstall }

// Agents are the agents that run a step.
type Agents int

// Our agent takes fine steps, one for each part of a stage; other agents of the v2 API
// take one install step.
const (
	AnyAgent Agents = iota
	OurAgent
	OtherAgents
)

// Argument is the kind of a step's arguments; package duesteps makes them.
type Argument int

// A step without an argument gets an empty list. ArgumentInstall is the JSON of a
// wire.InstallCmdRequest, shared by all steps of an installation.
const (
	ArgumentOwn Argument = iota
	ArgumentNone
	ArgumentInstall
)

// Needs lists the inputs of a step's arguments, besides the host itself.
type Needs struct {
	InfraEnv      bool
	Cluster       bool
	Hosts         bool // the other hosts of the cluster
	Release       bool // images of the release
	BootArtifacts bool // addresses of the discovery image's parts
}

// Reply is how the reply to a step is used.
type Reply int

const (
	// ReplyUnexpected steps are never answered: the service refuses such a reply.
	ReplyUnexpected Reply = iota
	// ReplyResult concerns only the workflow that commanded the step.
	ReplyResult
	// ReplyDiscovery is a fact about the host until its preparation begins.
	ReplyDiscovery
	// ReplyPreparation is a fact about the host until its installation begins.
	ReplyPreparation
)

// Of returns the row of a step type; the second result is false for an unknown type.
func Of(t wire.StepType) (Step, bool) {
	i := slices.IndexFunc(catalogue, func(s Step) bool { return s.Type == t })
	if i < 0 {
		return Step{}, false
	}
	return catalogue[i], true
}

// All returns the rows of the catalogue in order.
func All() []Step { return slices.Clone(catalogue) }

// OfInstallation returns the types of the steps that a host is installed with, all of them in the live image.
func OfInstallation() []string {
	var out []string
	for _, s := range catalogue {
		if s.Argument == ArgumentInstall {
			out = append(out, string(s.Type))
		}
	}
	return out
}

// Checks returns the checks before an installation, in the order workflows command them.
func Checks() []Step {
	var out []Step
	for _, s := range catalogue {
		if s.Check {
			out = append(out, s)
		}
	}
	return out
}
