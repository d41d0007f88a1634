package bootkube

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Approver approves the certificates of masters before another approver runs.
type Approver struct {
	Client kubernetes.Interface
	// Names are the nodes to let in. Empty: the first Limit that ask, where a platform
	// does not know its machines.
	Names []string
	Limit int
	Log   *slog.Logger
}

// Approve approves the present requests for client certificates of these nodes. Certificates of servers are
// left to the installation's own controller.
func (a *Approver) Approve(ctx context.Context) error {
	requests := a.Client.CertificatesV1().CertificateSigningRequests()
	list, err := requests.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list certificate requests: %w", err)
	}
	in := approved(list.Items)
	for i := range list.Items {
		csr := &list.Items[i]
		name, err := nodeOf(csr)
		if err != nil || len(csr.Status.Conditions) > 0 || !a.lets(name, in) {
			continue
		}
		csr.Status.Conditions = append(csr.Status.Conditions, certv1.CertificateSigningRequestCondition{
			Type: certv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "BenchBootstrap", Message: "a master of this cluster",
		})
		if _, err := requests.UpdateApproval(ctx, csr.Name, csr, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("approve certificate request %s: %w", csr.Name, err)
		}
		if !slices.Contains(in, name) {
			in = append(in, name)
		}
		a.Log.Info("certificate request approved", "request", csr.Name, "node", name)
	}
	return nil
}

func (a *Approver) lets(name string, in []string) bool {
	if len(a.Names) > 0 {
		return slices.Contains(a.Names, name)
	}
	return slices.Contains(in, name) || len(in) < a.Limit
}

// approved lists the nodes that have been approved before.
func approved(list []certv1.CertificateSigningRequest) []string {
	var in []string
	for i := range list {
		name, err := nodeOf(&list[i])
		if err != nil || slices.Contains(in, name) {
			continue
		}
		if slices.ContainsFunc(list[i].Status.Conditions, func(c certv1.CertificateSigningRequestCondition) bool {
			return c.Type == certv1.CertificateApproved
		}) {
			in = append(in, name)
		}
	}
	return in
}

// nodeOf returns the node that a request of a kubelet without identity is for.
func nodeOf(csr *certv1.CertificateSigningRequest) (string, error) {
	if csr.Spec.SignerName != certv1.KubeAPIServerClientKubeletSignerName || csr.Spec.Username != BootstrapperUser {
		return "", fmt.Errorf("require a request of a kubelet without identity, found %s of %s", csr.Spec.SignerName, csr.Spec.Username)
	}
	block, _ := pem.Decode(csr.Spec.Request)
	if block == nil {
		return "", fmt.Errorf("require a certificate request in PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", err
	}
	name, isNode := strings.CutPrefix(request.Subject.CommonName, "system:node:")
	if !isNode || !slices.Equal(request.Subject.Organization, []string{"system:nodes"}) {
		return "", fmt.Errorf("require the subject of a node, found %s", request.Subject)
	}
	return name, nil
}
