package client

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// FinalizingProgress reports the stage of a cluster whose nodes are up.
func (c *Client) FinalizingProgress(
	ctx context.Context, clusterID uuid.UUID, stage wire.FinalizingStage, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPut, path: clusterPath(clusterID) + "/progress",
		body: wire.ClusterFinalizingProgress{FinalizingStage: &stage}, ok: http.StatusOK,
	}, options)
}

// MonitoredOperators lists the operators an installation waits for.
func (c *Client) MonitoredOperators(
	ctx context.Context, clusterID uuid.UUID, options ...Option,
) ([]wire.MonitoredOperator, error) {
	var operators []wire.MonitoredOperator
	err := c.do(ctx, call{
		method: http.MethodGet, path: clusterPath(clusterID) + "/monitored-operators", ok: http.StatusOK, into: &operators,
	}, options)
	return operators, err
}

// ReportOperator reports the state of an operator.
func (c *Client) ReportOperator(
	ctx context.Context, clusterID uuid.UUID, report wire.OperatorMonitorReport, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPut, path: clusterPath(clusterID) + "/monitored-operators", body: report, ok: http.StatusOK,
	}, options)
}

// UploadIngressCert sends the certificates (PEM) that signed the router's.
func (c *Client) UploadIngressCert(ctx context.Context, clusterID uuid.UUID, pem string, options ...Option) error {
	return c.do(ctx, call{
		method: http.MethodPost, path: clusterPath(clusterID) + "/uploads/ingress-cert", body: pem, ok: http.StatusCreated,
	}, options)
}

// CompleteInstallation reports that the new cluster runs, or why it does not.
func (c *Client) CompleteInstallation(
	ctx context.Context, clusterID uuid.UUID, params wire.CompletionParams, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPost, path: clusterPath(clusterID) + "/actions/complete-installation", body: params,
		ok: http.StatusAccepted,
	}, options)
}

// ClusterLogsProgress reports the state of the collection of the controller's logs.
func (c *Client) ClusterLogsProgress(
	ctx context.Context, clusterID uuid.UUID, state wire.LogsState, options ...Option,
) error {
	return c.do(ctx, call{
		method: http.MethodPut, path: clusterPath(clusterID) + "/logs-progress",
		body: wire.LogsProgressParams{LogsState: state}, ok: http.StatusNoContent,
	}, options)
}
