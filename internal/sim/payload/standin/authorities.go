package standin

import (
	"time"

	"slipway/internal/sim/payload/pki"
)

// authorities are the certificates of a new cluster.
type authorities struct {
	Root        pki.Pair `json:"root"`         // signs the machine config server's
	APISigner   pki.Pair `json:"api_signer"`   // signs the API server's; in kubeconfig
	AdminSigner pki.Pair `json:"admin_signer"` // signs the administrator's
	Admin       pki.Pair `json:"admin"`
	MCS         pki.Pair `json:"mcs"`
}

// newAuthorities makes the certificates of a cluster whose API is api.<domain>.
func newAuthorities(domain string, now time.Time) (*authorities, error) {
	var a authorities
	for name, to := range map[string]*pki.Pair{
		"root-ca": &a.Root, "kube-apiserver-lb-signer": &a.APISigner, "admin-kubeconfig-signer": &a.AdminSigner,
	} {
		made, err := pki.Authority(name, now)
		if err != nil {
			return nil, err
		}
		*to = made
	}
	var err error
	server := pki.Subject{Name: "system:machine-config-server", Hosts: []string{"api-int." + domain, "localhost", "127.0.0.1"}}
	if a.MCS, err = a.Root.Issue(server, now); err != nil {
		return nil, err
	}
	admin := pki.Subject{Name: "system:admin", Groups: []string{"system:masters"}}
	if a.Admin, err = a.AdminSigner.Issue(admin, now); err != nil {
		return nil, err
	}
	return &a, nil
}
