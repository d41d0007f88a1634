package api

import (
	_ "embed"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/platform/httpapi"
)

// OwnPath is where our own API begins, with operations that the contract lacks.
const OwnPath = "/api/slipway"

//go:embed slipway.yaml
var ownYAML []byte

// ownRoutes registers the operations of slipway.yaml. They pass the same checks as the contract's operations, except that their
// handlers read the address themselves.
func (s *server) ownRoutes(r chi.Router) {
	clusters, hosts := OwnPath+"/v1/clusters/{cluster_id}", OwnPath+"/v1/infra-envs/{infra_env_id}/hosts/{host_id}"
	r.Get(OwnPath+"/openapi", s.own.Serve)
	r.Method(http.MethodGet, OwnPath+"/sign-in", httpapi.Handler(s.describeSignIn)) // for those who have no credential yet
	r.With(s.gate.Admit).Method(http.MethodPost, OwnPath+"/v1/sign-in", httpapi.Handler(s.signIn))
	r.With(s.gate.Admit).Method(http.MethodPost, clusters+"/commands/{command}", httpapi.Handler(s.commandCluster))
	r.With(s.gate.Admit).Method(http.MethodPost, clusters+"/undelete", httpapi.Handler(s.undeleteCluster))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/deleted-clusters", httpapi.Handler(s.listDeletedClusters))
	r.With(s.gate.Admit).Method(http.MethodGet, clusters+"/workflow", httpapi.Handler(s.showWorkflow))
	r.With(s.gate.Admit).Method(http.MethodGet, clusters+"/on-failure", httpapi.Handler(s.showOnFailure))
	r.With(s.gate.Admit).Method(http.MethodPut, clusters+"/on-failure", httpapi.Handler(s.setOnFailure))
	r.With(s.gate.Admit).Method(http.MethodGet, clusters+"/release", httpapi.Handler(s.showClusterRelease))
	r.With(s.gate.Admit).Method(http.MethodGet, clusters+"/timeline", httpapi.Handler(s.showTimeline))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/installations", httpapi.Handler(s.listInstallations))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/clusters", httpapi.Handler(s.findClusters))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/hosts", httpapi.Handler(s.findHosts))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/events", httpapi.Handler(s.findEvents))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/os-images", httpapi.Handler(s.listOSImages))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/kube-objects", httpapi.Handler(s.listKubeObjects))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/changes", httpapi.Handler(s.listChanges))
	env := OwnPath + "/v1/infra-envs/{infra_env_id}"
	r.With(s.gate.Admit).Method(http.MethodGet, env+"/boot-artifacts", httpapi.Handler(s.showBootArtifacts))
	r.With(s.gate.Admit).Method(http.MethodGet, env+"/usage", httpapi.Handler(s.showUsage))
	tokens := OwnPath + "/v1/tokens"
	r.With(s.gate.Admit).Method(http.MethodPost, tokens, httpapi.Handler(s.createToken))
	r.With(s.gate.Admit).Method(http.MethodGet, tokens, httpapi.Handler(s.listTokens))
	r.With(s.gate.Admit).Method(http.MethodDelete, tokens+"/{token_id}", httpapi.Handler(s.revokeToken))
	users := OwnPath + "/v1/issuer-users"
	r.With(s.gate.Admit).Method(http.MethodGet, users, httpapi.Handler(s.listIssuerUsers))
	r.With(s.gate.Admit).Method(http.MethodDelete, users, httpapi.Handler(s.forgetIssuerUser))
	r.With(s.gate.Admit).Method(http.MethodGet, OwnPath+"/v1/audit", httpapi.Handler(s.listAudit))
	r.With(s.gate.Admit).Method(http.MethodPost, hosts+"/commands/{command}", httpapi.Handler(s.commandHost))
}

// commandCluster pauses, resumes or extends a running installation.
func (s *server) commandCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	if err := s.Orchestrator.ClusterCommand(r.Context(), id, chi.URLParam(r, "command")); err != nil {
		return err
	}
	return accepted(w, nil)
}

// commandHost sends a command for a failed host.
func (s *server) commandHost(w http.ResponseWriter, r *http.Request) error {
	infraEnvID, err := idOf(r, "infra_env_id")
	if err != nil {
		return err
	}
	hostID, err := idOf(r, "host_id")
	if err != nil {
		return err
	}
	if err := s.Orchestrator.HostCommand(r.Context(), infraEnvID, hostID, chi.URLParam(r, "command")); err != nil {
		return err
	}
	return accepted(w, nil)
}

// showWorkflow returns the state of a running installation.
func (s *server) showWorkflow(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	state, err := s.Orchestrator.State(r.Context(), id)
	if err != nil {
		return err
	}
	return ok(w, state)
}

// idOf reads an id out of the address.
func idOf(r *http.Request, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(chi.URLParam(r, name))
	if err != nil {
		return uuid.Nil, badParameter(r, &InvalidParamFormatError{ParamName: name, Err: err})
	}
	return id, nil
}
