package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// V2InstallCluster starts the installation; its workflow continues after the answer.
func (s *server) V2InstallCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	return s.command(w, r, id, s.Orchestrator.Install)
}

// V2CancelInstallation stops a running installation.
func (s *server) V2CancelInstallation(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	return s.command(w, r, id, s.Orchestrator.Cancel)
}

// V2ResetCluster takes a stopped or failed installation back to discovery.
func (s *server) V2ResetCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	return s.command(w, r, id, s.Orchestrator.Reset)
}

func (s *server) command(w http.ResponseWriter, r *http.Request, id uuid.UUID, do func(context.Context, uuid.UUID) error) error {
	if err := do(r.Context(), id); err != nil {
		return err
	}
	return s.replyCluster(http.StatusAccepted, w, r, id)
}

// V2UpdateClusterFinalizingProgress records the stage a new cluster has reached.
func (s *server) V2UpdateClusterFinalizingProgress(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.ClusterFinalizingProgress
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := s.ClusterReports.FinalizingProgress(r.Context(), id, model.FinalizingStage(deref(params.FinalizingStage))); err != nil {
		return err
	}
	return ok(w, nil)
}

// V2UploadClusterIngressCert stores the certificate of the new cluster's ingress.
func (s *server) V2UploadClusterIngressCert(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	_ wire.V2UploadClusterIngressCertParams,
) error {
	var certificate wire.IngressCertParams
	if err := admission.Read(r, &certificate); err != nil {
		return err
	}
	if err := s.ClusterReports.IngressCert(r.Context(), id, certificate); err != nil {
		return err
	}
	return created(w, nil)
}

// V2CompleteInstallation records the result that the controller of the new cluster reports.
func (s *server) V2CompleteInstallation(w http.ResponseWriter, r *http.Request, id uuid.UUID, _ wire.V2CompleteInstallationParams) error {
	var params wire.CompletionParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := s.ClusterReports.Complete(r.Context(), id, params.IsSuccess, deref(params.ErrorInfo)); err != nil {
		return err
	}
	return s.replyCluster(http.StatusAccepted, w, r, id)
}

// V2ListOfClusterOperators lists what the installation waits for.
func (s *server) V2ListOfClusterOperators(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2ListOfClusterOperatorsParams,
) error {
	list, err := s.operators(r.Context(), id, params.OperatorName)
	if err != nil {
		return err
	}
	return ok(w, list)
}

func (s *server) operators(ctx context.Context, id uuid.UUID, name string) ([]wire.MonitoredOperator, error) {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	monitored, err := s.Store.MonitoredOperators(ctx, id)
	list := slices.DeleteFunc(answers.Operators(c, monitored), func(o wire.MonitoredOperator) bool {
		return name != "" && o.Name != name
	})
	if err == nil && name != "" && len(list) == 0 {
		err = model.NotFoundf("operator %s is not monitored in cluster %s", name, id)
	}
	return list, err
}

// V2ReportMonitoredOperatorStatus records the state of one operator.
func (s *server) V2ReportMonitoredOperatorStatus(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.OperatorMonitorReport
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if params.Name == "" {
		return model.Invalidf("name: the name of an operator is required")
	}
	err := s.ClusterReports.ReportOperator(r.Context(), model.MonitoredOperator{
		ClusterID: id, Name: params.Name, Version: params.Version,
		Status: model.OperatorStatus(params.Status), StatusInfo: params.StatusInfo,
	})
	if err != nil {
		return err
	}
	return ok(w, nil)
}
