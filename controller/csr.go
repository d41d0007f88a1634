package controller

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"slipway/internal/model"
)

// Identities of kubelets, and of their bootstrap before they have one
// (Kubernetes: TLS bootstrapping; OpenShift: machine-config-server).
const (
	nodePrefix       = "system:node:"
	nodesGroup       = "system:nodes"
	bootstrapAccount = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
	bootstrapPrefix  = "system:bootstrap:"
	bootstrapGroup   = "system:bootstrappers"
)

// request is a certificate request under evaluation.
type request struct {
	csr  *certv1.CertificateSigningRequest
	x509 *x509.CertificateRequest
	name string       // of the node it is for
	host *Host        // of that name; nil if there is none
	node *corev1.Node // of that name; nil if there is none
	// others are the addresses that other hosts claim, and the virtual ones of the cluster.
	others map[netip.Addr]string
	// outdated: the host may be further than its stage says.
	outdated bool
}

// rule returns the reason not to approve a request, nil if it may be approved.
type rule func(request) error

// rulesOf are the rules of each signer that issues certificates to kubelets; a request
// is approved when all hold.
var rulesOf = map[string][]rule{
	certv1.KubeAPIServerClientKubeletSignerName: {
		bootstrapperAsks, nodeSubject, hostExists, usagesAre(certv1.UsageClientAuth), noAlternativeNames, aboutToJoin, notJoined,
	},
	certv1.KubeletServingSignerName: {
		nodeAsks, nodeSubject, hostExists, usagesAre(certv1.UsageServerAuth), ownAlternativeNames,
	},
}

// evaluate returns why a request must not be approved, nil if it may be.
func evaluate(csr *certv1.CertificateSigningRequest, s State) error {
	rules, known := rulesOf[csr.Spec.SignerName]
	if !known {
		return fmt.Errorf("require a signer for kubelets, found %s", csr.Spec.SignerName)
	}
	parsed, err := parseRequest(csr.Spec.Request)
	if err != nil {
		return err
	}
	r := request{csr: csr, x509: parsed, name: strings.TrimPrefix(parsed.Subject.CommonName, nodePrefix), outdated: s.Outdated}
	r.host = hostNamed(r.name, s)
	for i := range s.Nodes {
		if s.Nodes[i].Name == r.name {
			r.node = &s.Nodes[i]
		}
	}
	r.others = claimedByOthers(r.name, s)
	for _, broken := range rules {
		if err := broken(r); err != nil {
			return err
		}
	}
	return nil
}

func parseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errors.New("require exactly one PEM certificate request")
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the request: %w", err)
	}
	if err := parsed.CheckSignature(); err != nil {
		return nil, fmt.Errorf("check the signature of the request: %w", err)
	}
	return parsed, nil
}

func fromBootstrapper(csr *certv1.CertificateSigningRequest) bool {
	return csr.Spec.Username == bootstrapAccount ||
		strings.HasPrefix(csr.Spec.Username, bootstrapPrefix) && slices.Contains(csr.Spec.Groups, bootstrapGroup)
}

func bootstrapperAsks(r request) error {
	if !fromBootstrapper(r.csr) {
		return fmt.Errorf("require a node bootstrapper to ask, found %s", r.csr.Spec.Username)
	}
	return nil
}

func nodeAsks(r request) error {
	if r.csr.Spec.Username != r.x509.Subject.CommonName || !slices.Contains(r.csr.Spec.Groups, nodesGroup) {
		return fmt.Errorf("require node %s itself to ask, found %s", r.x509.Subject.CommonName, r.csr.Spec.Username)
	}
	return nil
}

func nodeSubject(r request) error {
	subject := r.x509.Subject
	if !strings.HasPrefix(subject.CommonName, nodePrefix) {
		return fmt.Errorf("require the common name of a node, found %q", subject.CommonName)
	}
	if !slices.Equal(subject.Organization, []string{nodesGroup}) {
		return fmt.Errorf("require organization %s alone, found %q", nodesGroup, subject.Organization)
	}
	return nil
}

// claimedByOthers maps the addresses that a node may not have to their owner: other hosts' addresses, and virtual ones.
func claimedByOthers(name string, s State) map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for i := range s.Cluster.Hosts {
		if h := &s.Cluster.Hosts[i]; h.Name != name {
			for _, address := range h.Addresses {
				out[address] = "host " + h.Name
			}
		}
	}
	for _, address := range s.Cluster.VIPs {
		out[address] = "the cluster"
	}
	return out
}

// lost are the statuses of hosts that join nothing.
var lost = []model.HostStatus{model.HostError, model.HostCancelled, model.HostDisabled}

func hostExists(r request) error {
	if r.host == nil {
		return fmt.Errorf("require a host of this cluster, found %q", r.name)
	}
	if slices.Contains(lost, r.host.Status) {
		return fmt.Errorf("require a host that is being installed, found %s in status %s", r.name, r.host.Status)
	}
	return nil
}

// joining are the stages of a host whose kubelet asks for its first certificate: after it left the live image, and before its node
// is there.
var joining = []model.Stage{model.StageRebooting, model.StageWaitingForIgnition, model.StageConfiguring}

// beforeImage are the stages of a host that has nothing on its disk to boot.
var beforeImage = []model.Stage{"", model.StageStartingInstallation, model.StageInstalling, model.StageFailed}

// leaving reports whether a host may have rebooted in a stage while the service did not answer.
func leaving(s model.Stage) bool { return !s.LeftLiveImage() && !slices.Contains(beforeImage, s) }

func aboutToJoin(r request) error {
	if r.outdated && leaving(r.host.Stage) {
		return nil
	}
	if !slices.Contains(joining, r.host.Stage) {
		return fmt.Errorf("require a host between %s and %s, found %s in stage %q", model.StageRebooting, model.StageJoined, r.name, r.host.Stage)
	}
	return nil
}

// usagesAre requires the given use next to digital signatures; keys of RSA also ask
// for key encipherment.
func usagesAre(use certv1.KeyUsage) rule {
	return func(r request) error {
		allowed := []certv1.KeyUsage{use, certv1.UsageDigitalSignature, certv1.UsageKeyEncipherment}
		for _, u := range r.csr.Spec.Usages {
			if !slices.Contains(allowed, u) {
				return fmt.Errorf("require no other usages than %v, found %s", allowed, u)
			}
		}
		for _, u := range allowed[:2] {
			if !slices.Contains(r.csr.Spec.Usages, u) {
				return fmt.Errorf("require usage %s, found %v", u, r.csr.Spec.Usages)
			}
		}
		return nil
	}
}

func noAlternativeNames(r request) error {
	if n := len(r.x509.DNSNames) + len(r.x509.IPAddresses) + len(r.x509.EmailAddresses) + len(r.x509.URIs); n > 0 {
		return fmt.Errorf("require no alternative names in a client certificate, found %d", n)
	}
	return nil
}

// notJoined keeps holders of the bootstrap credentials, which every host has, from becoming a node that exists, also while that is
// down. A host that is installed again finds the node of its installation before.
func notJoined(r request) error {
	switch {
	case r.node == nil:
		return nil
	case ready(r.node):
		return fmt.Errorf("require a node that is not ready yet, found %s ready", r.name)
	case ofAttemptBefore(*r.host, r.node):
		return nil
	}
	return fmt.Errorf("require no node of that name, found %s since %s", r.name, r.node.CreationTimestamp.UTC().Format(time.RFC3339))
}

func ownAlternativeNames(r request) error {
	if len(r.x509.EmailAddresses)+len(r.x509.URIs) > 0 {
		return errors.New("must not contain e-mail addresses or URIs")
	}
	if len(r.x509.DNSNames)+len(r.x509.IPAddresses) == 0 {
		return errors.New("a name or an address is required")
	}
	for _, name := range r.x509.DNSNames {
		if name != r.host.Name {
			return fmt.Errorf("require the host's own name %s, found %s", r.host.Name, name)
		}
	}
	for _, ip := range r.x509.IPAddresses {
		address, ok := netip.AddrFromSlice(ip)
		if !ok || !slices.Contains(r.host.Addresses, address.Unmap()) {
			return fmt.Errorf("require addresses of host %s, found %s", r.host.Name, ip)
		}
		if owner := r.others[address.Unmap()]; owner != "" {
			return fmt.Errorf("require addresses that host %s alone has, found %s, which also belongs to %s", r.host.Name, ip, owner)
		}
	}
	return nil
}
