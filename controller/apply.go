package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"slipway/internal/wire"
)

func (ApproveCSR) message() string {
	return "name, addresses and requester belong to a host of this cluster"
}

func (a ApproveCSR) do(ctx context.Context, c *controller) error {
	csr := a.CSR.DeepCopy()
	csr.Status.Conditions = append(csr.Status.Conditions, certv1.CertificateSigningRequestCondition{
		Type: certv1.CertificateApproved, Status: corev1.ConditionTrue,
		Reason: "HostOfCluster", Message: a.message(), LastUpdateTime: metav1.NewTime(c.Now()),
	})
	_, err := c.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, csr.Name, csr, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("approve certificate request %s: %w", csr.Name, err)
	}
	c.Log.InfoContext(ctx, "certificate request approved",
		"csr", csr.Name, "signer", csr.Spec.SignerName, "requester", csr.Spec.Username)
	c.decided(notice{
		name: "certificate_request_approved", about: csr.Name,
		message: fmt.Sprintf("Certificate request %s of %s for %s is approved: %s",
			csr.Name, csr.Spec.Username, csr.Spec.SignerName, a.message()),
	})
	return nil
}

func (a LeavePending) do(ctx context.Context, c *controller) error {
	if c.reported[a.UID] {
		return nil
	}
	message := fmt.Sprintf("%s; where it is right, approve it: oc adm certificate approve %s", a.Reason, a.CSR)
	event := c.event("csr-left-pending-"+a.CSR, "CSRNotApproved", message)
	event.Type = corev1.EventTypeWarning
	event.InvolvedObject = corev1.ObjectReference{
		APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest", Name: a.CSR, UID: a.UID, Namespace: c.Namespace,
	}
	switch err := c.createEvent(ctx, event); {
	case apierrors.IsAlreadyExists(err): // a controller before this one reported it
	case err != nil:
		return fmt.Errorf("report that certificate request %s stays pending: %w", a.CSR, err)
	default:
		c.Log.WarnContext(ctx, "certificate request left pending", "csr", a.CSR, "reason", a.Reason)
	}
	c.reported[a.UID] = true
	c.decided(notice{
		name: "certificate_request_not_approved", about: a.CSR, warning: true,
		message: fmt.Sprintf("Certificate request %s of %s is not approved: %s", a.CSR, a.Requester, message),
	})
	return nil
}

func (a ReportHost) do(ctx context.Context, c *controller) error {
	err := c.Service.UpdateHostProgress(ctx, a.Host.InfraEnvID, a.Host.ID, wire.HostStage(a.Stage), "")
	if err != nil {
		return fmt.Errorf("report host %s as %s: %w", a.Host.Name, a.Stage, err)
	}
	c.Log.InfoContext(ctx, "host stage reported", "host", a.Host.Name, "stage", a.Stage)
	return nil
}

func (a LabelNode) do(ctx context.Context, c *controller) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": a.Labels}})
	if err != nil {
		return fmt.Errorf("write labels of node %s: %w", a.Node, err)
	}
	if _, err := c.kube.CoreV1().Nodes().Patch(ctx, a.Node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("label node %s: %w", a.Node, err)
	}
	c.Log.InfoContext(ctx, "node labelled", "node", a.Node, "labels", a.Labels)
	return nil
}

func (a ReportOperator) do(ctx context.Context, c *controller) error {
	if err := c.Service.ReportOperator(ctx, c.ClusterID, a.Report); err != nil {
		return fmt.Errorf("report operator %s as %s: %w", a.Report.Name, a.Report.Status, err)
	}
	c.Log.InfoContext(ctx, "operator reported", "operator", a.Report.Name, "status", a.Report.Status, "info", a.Report.StatusInfo)
	return nil
}

func (a EnterStage) do(ctx context.Context, c *controller) error {
	if err := c.Service.FinalizingProgress(ctx, c.ClusterID, wire.FinalizingStage(a.Stage)); err != nil {
		return fmt.Errorf("enter finalizing stage %s: %w", a.Stage, err)
	}
	c.Log.InfoContext(ctx, "finalizing stage entered", "stage", a.Stage)
	return nil
}

func (a UploadIngressCA) do(ctx context.Context, c *controller) error {
	if err := c.Service.UploadIngressCert(ctx, c.ClusterID, a.PEM); err != nil {
		return fmt.Errorf("deliver the ingress certificate: %w", err)
	}
	c.Log.InfoContext(ctx, "ingress certificate delivered")
	return nil
}

func (Complete) do(ctx context.Context, c *controller) error {
	if err := c.Service.CompleteInstallation(ctx, c.ClusterID, wire.CompletionParams{IsSuccess: true}); err != nil {
		return fmt.Errorf("complete the installation: %w", err)
	}
	c.completed = true
	c.Log.InfoContext(ctx, "installation completed")
	return nil
}

// forget clears what was done before the cluster got its current status: a failed installation that was resumed
// is completed again.
func (c *controller) forget(since time.Time) {
	if !since.Equal(c.statusSince) {
		c.statusSince, c.completed, c.lastLogsSent = since, false, false
	}
}

// troubles logs an error when it first comes and when it is over, not in every round.
type troubles struct {
	log  *slog.Logger
	last map[string]string // error text by what was done
}

func (t *troubles) note(ctx context.Context, doing string, err error) {
	if t.last == nil {
		t.last = map[string]string{}
	}
	before := t.last[doing]
	switch {
	case err == nil && before != "":
		delete(t.last, doing)
		t.log.InfoContext(ctx, "trouble over", "doing", doing)
	case err != nil && err.Error() != before:
		t.last[doing] = err.Error()
		t.log.WarnContext(ctx, "trouble", "doing", doing, "error", err)
	}
}
