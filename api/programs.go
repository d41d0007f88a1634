package api

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"slipway/internal/model"
	"slipway/internal/platform/fair"
	"slipway/internal/wire"
)

// Where the programs are offered. The file below controllerPath names an architecture, with or without sumSuffix.
const (
	agentPath      = "/agent/"
	controllerPath = "/controller/"
	sumSuffix      = ".sha256"
)

// AgentPrograms returns a function that lists the programs of the agent in a folder, for agents that are upgraded.
func AgentPrograms(folder fs.FS) func() (map[string]wire.AgentProgram, error) {
	return listOf(newProgramFiles(folder, agentProgram), agentPath)
}

// ControllerPrograms returns a function that lists the programs of the controller in a folder.
func ControllerPrograms(folder fs.FS) func() (map[string]wire.AgentProgram, error) {
	return listOf(newProgramFiles(folder, controllerProgram), controllerPath)
}

func listOf(files *programFiles, path string) func() (map[string]wire.AgentProgram, error) {
	return func() (map[string]wire.AgentProgram, error) { return files.list(path) }
}

// downloadAgent answers with a program of the agent, for hosts that boot a discovery image.
func (s *server) downloadAgent(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "file")
	sum, err := s.agents.sha256(name)
	if err != nil {
		return err
	}
	serveProgram(w, r, s.agents.folder, name, sum)
	return nil
}

// downloadController answers with the program of the controller for the architecture in the name, or its hash.
func (s *server) downloadController(w http.ResponseWriter, r *http.Request) error {
	asked, hashOnly := strings.CutSuffix(chi.URLParam(r, "file"), sumSuffix)
	architecture, ok := strings.CutPrefix(asked, controllerProgram+"-")
	if architecture == "amd64" {
		architecture = "x86_64"
	}
	if !ok {
		return s.controllers.missing(asked)
	}
	name, sum, err := s.controllers.find(architecture)
	if err != nil {
		return err
	}
	if hashOnly {
		w.Header().Set("Content-Type", "text/plain")
		_, err = fmt.Fprintln(w, sum)
		return err
	}
	serveProgram(w, r, s.controllers.folder, name, sum)
	return nil
}

func serveProgram(w http.ResponseWriter, r *http.Request, folder fs.FS, name, sum string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Etag", `"`+sum+`"`)
	defer fair.Large(r.Context())()
	http.ServeFileFS(w, r, folder, name)
}

// agentFor returns the version that an agent must have to register: a foreign agent keeps its own, unless the deployment names an
// image.
func (s *server) agentFor(h *model.Host) string {
	if h.AgentSteps == model.FineSteps {
		return s.AgentVersion
	}
	return or(s.ForeignAgent, or(h.DiscoveryAgentVersion, s.AgentVersion))
}
