package controller

import (
	"context"

	certv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/types"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Action is one thing to do; apply.go and its neighbours carry it out. Every action may be repeated.
type Action interface {
	do(ctx context.Context, c *controller) error
}

// Announce creates the event by which the bootstrap host recognises that the controller runs.
type Announce struct{}

// ApproveCSR approves a certificate request.
type ApproveCSR struct {
	CSR *certv1.CertificateSigningRequest
}

// LeavePending reports, once, why a certificate request is not approved.
type LeavePending struct {
	CSR    string
	UID    types.UID
	Reason string
	// Requester is the user that asks.
	Requester string
}

// ReportHost reports the stage a host reached.
type ReportHost struct {
	Host  Host
	Stage model.Stage
}

// LabelNode sets labels of a node.
type LabelNode struct {
	Node   string
	Labels map[string]string
}

// ReportOperator reports the state of an operator.
type ReportOperator struct{ Report wire.OperatorMonitorReport }

// EnterStage reports the next finalizing stage.
type EnterStage struct{ Stage model.FinalizingStage }

// UploadIngressCA delivers the certificates that signed the router's.
type UploadIngressCA struct{ PEM string }

// ApplyManifests applies the manifests that require a running cluster.
type ApplyManifests struct{}

// SendLogs sends the controller's log; the last time with a summary of the cluster. It never delays what follows; the last
// logs are tried again until the service has them.
type SendLogs struct {
	Last bool
	// Failed: the installation failed, and what explains it is gathered.
	Failed bool
}

// Complete reports that the new cluster runs.
type Complete struct{}

// advances reports whether the service shows something new after an action, so that the next round should not
// wait.
func advances(a Action) bool {
	switch a.(type) {
	case EnterStage, ReportOperator:
		return true
	}
	return false
}
