package controller

import "slipway/internal/cluster/kubeletcsr"

// missingApprovals approves the certificate requests of kubelets of this cluster's hosts. A request that claims
// to be one and is not stays pending and is reported. Requests that do not concern kubelets are not evaluated:
// others answer them.
func missingApprovals(s State) []Action {
	var actions []Action
	for i := range s.CSRs {
		csr := &s.CSRs[i]
		if kubeletcsr.Answered(csr) || !kubeletcsr.Concerns(csr) {
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
