package service

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/signin"
)

// recordCommands records what users do to workflows by Temporal's web UI.
func (s *Service) recordCommands(trail *audit.Trail, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		command, changes := frontend.CommandOf(r)
		if !changes {
			pages.ServeHTTP(w, r)
			return
		}
		e := s.commandEntry(r, command)
		if err := trail.Record(w, r, &e, pages); err != nil {
			s.logger.ErrorContext(r.Context(), "command refused: the audit takes no row", "user", e.UserName, "operation", e.Operation, "error", err)
			http.Error(w, "the service cannot record the command now, try again", http.StatusServiceUnavailable)
		}
	})
}

// recordForbidden returns what records a command of a user who may not use the web UI.
func (s *Service) recordForbidden(trail *audit.Trail) func(*http.Request) {
	return func(r *http.Request) {
		command, changes := frontend.CommandOf(r)
		if caller, _ := signin.CallerOf(r); !changes || !caller.User() || caller.Bound() {
			return
		}
		e := s.commandEntry(r, command)
		trail.Refused(r.Context(), &e, http.StatusForbidden)
	}
}

func (s *Service) commandEntry(r *http.Request, command frontend.Command) model.AuditEntry {
	caller, credential := auth.Admin, model.AuditNone
	if !s.identity.Open() {
		caller, credential = signin.CallerOf(r)
	}
	e := audit.Entry(r, caller, credential)
	e.Operation, e.Path, e.Subject = "temporal:"+command.Name, frontend.UIPath+command.Pattern, strings.Join(command.Objects, " ")
	if len(command.Objects) > 0 {
		nameObjects(&e, command.Objects[0])
	}
	return e
}

// nameObjects adds the objects that the id of a workflow names: KIND:CLUSTER, or KIND:INFRA-ENV:HOST (package workflows, ids.go).
func nameObjects(e *model.AuditEntry, workflow string) {
	parts := strings.Split(workflow, ":")
	var ids []uuid.UUID
	for _, text := range parts[1:] {
		id, err := uuid.Parse(text)
		if err != nil {
			return
		}
		ids = append(ids, id)
	}
	switch len(ids) {
	case 1:
		e.ClusterID = &ids[0]
	case 2:
		e.InfraEnvID, e.HostID = &ids[0], &ids[1]
	}
}
