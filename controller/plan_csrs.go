package controller

import (
	"strings"

	certv1 "k8s.io/api/certificates/v1"
)

// missingApprovals approves the certificate requests of kubelets of this cluster's hosts. A request that claims
// to be one and is not stays pending and is reported. Requests that do not concern kubelets are not evaluated:
// others answer them.
func missingApprovals(s State) []Action {
	var actions []Action
	for i := range s.CSRs {
		csr := &s.CSRs[i]
		if answered(csr) || !concernsKubelet(csr) {
			continue
		}
		if err := evaluate(csr, s); err != nil {
			actions = append(actions, LeavePending{CSR: csr.Name, UID: csr.UID, Reason: err.Error(), Requester: csr.Spec.Username})
			continue
		}
		actions = append(actions, ApproveCSR{CSR: csr})
	}
	return actions
}

func answered(csr *certv1.CertificateSigningRequest) bool {
	return len(csr.Status.Conditions) > 0
}

// concernsKubelet reports whether a request asks for a kubelet's certificate, or comes from one that has none yet. The
// network of a node asks in the kubelet's name for client certificates of another signer, which the operator of the network
// approves (ovn-kubernetes, page "node identity"), and a kubelet that renews its client certificate is answered by the
// machine approver of the cluster.
func concernsKubelet(csr *certv1.CertificateSigningRequest) bool {
	_, known := rulesOf[csr.Spec.SignerName]
	return (known || fromBootstrapper(csr)) && !renewsItself(csr)
}

// renewsItself reports whether a kubelet asks for another client certificate in its own name.
func renewsItself(csr *certv1.CertificateSigningRequest) bool {
	if csr.Spec.SignerName != certv1.KubeAPIServerClientKubeletSignerName || !strings.HasPrefix(csr.Spec.Username, nodePrefix) {
		return false
	}
	parsed, err := parseRequest(csr.Spec.Request)
	return err == nil && parsed.Subject.CommonName == csr.Spec.Username
}
