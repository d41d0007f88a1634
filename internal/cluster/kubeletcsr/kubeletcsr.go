// Package kubeletcsr evaluates the certificate requests of kubelets (Kubernetes: TLS bootstrapping). Who approves them knows which hosts
// may ask.
package kubeletcsr

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

// Request is a request whose requester, subject and usages are a kubelet's.
type Request struct {
	// Node is the name of the node it is for.
	Node string
	// Client is set for a kubelet's first certificate, which its bootstrap credentials ask for; others are serving certificates.
	Client bool

	names *x509.CertificateRequest
}

// rule returns the reason not to approve a request, nil if it may be approved.
type rule func(*certv1.CertificateSigningRequest, *x509.CertificateRequest) error

// rulesOf are the rules of each signer that issues certificates to kubelets.
var rulesOf = map[string][]rule{
	certv1.KubeAPIServerClientKubeletSignerName: {bootstrapperAsks, nodeSubject, usagesAre(certv1.UsageClientAuth), noAlternativeNames},
	certv1.KubeletServingSignerName:             {nodeAsks, nodeSubject, usagesAre(certv1.UsageServerAuth), alternativeNames},
}

// Answered reports whether a request was approved or denied.
func Answered(csr *certv1.CertificateSigningRequest) bool { return len(csr.Status.Conditions) > 0 }

// Concerns reports whether a request asks for a kubelet's certificate, or comes from one that has none yet. The
// network of a node asks in the kubelet's name for client certificates of another signer, which the operator of the network
// approves (ovn-kubernetes, page "node identity"), and a kubelet that renews its client certificate is answered by the
// machine approver of the cluster.
func Concerns(csr *certv1.CertificateSigningRequest) bool {
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

// Read returns the request, or why it must not be approved whichever hosts there are.
func Read(csr *certv1.CertificateSigningRequest) (*Request, error) {
	rules, known := rulesOf[csr.Spec.SignerName]
	if !known {
		return nil, fmt.Errorf("require a signer for kubelets, found %s", csr.Spec.SignerName)
	}
	parsed, err := parseRequest(csr.Spec.Request)
	if err != nil {
		return nil, err
	}
	for _, broken := range rules {
		if err := broken(csr, parsed); err != nil {
			return nil, err
		}
	}
	return &Request{
		Node: strings.TrimPrefix(parsed.Subject.CommonName, nodePrefix), names: parsed,
		Client: csr.Spec.SignerName == certv1.KubeAPIServerClientKubeletSignerName,
	}, nil
}

// CheckNames returns an error unless names and addresses in a serving certificate are the host's alone: addresses are its own, taken
// maps further addresses to their owners.
func (r *Request) CheckNames(addresses []netip.Addr, taken map[netip.Addr]string) error {
	for _, name := range r.names.DNSNames {
		if name != r.Node {
			return fmt.Errorf("require the host's own name %s, found %s", r.Node, name)
		}
	}
	for _, ip := range r.names.IPAddresses {
		address, ok := netip.AddrFromSlice(ip)
		if !ok || !slices.Contains(addresses, address.Unmap()) {
			return fmt.Errorf("require addresses of host %s, found %s", r.Node, ip)
		}
		if owner := taken[address.Unmap()]; owner != "" {
			return fmt.Errorf("require addresses that host %s alone has, found %s, which also belongs to %s", r.Node, ip, owner)
		}
	}
	return nil
}

// CheckNode keeps holders of the bootstrap credentials, which every host has, from becoming a node that exists, also while that is
// down: a first certificate is for no node, or for one of an installation before, which a host that is installed again finds.
func CheckNode(node *corev1.Node, before bool) error {
	switch {
	case Ready(node) != nil:
		return fmt.Errorf("require a node that is not ready yet, found %s ready", node.Name)
	case before:
		return nil
	}
	return fmt.Errorf("require no node of that name, found %s since %s", node.Name, node.CreationTimestamp.UTC().Format(time.RFC3339))
}

// Ready returns the condition of a node that is ready, nil for another node.
func Ready(node *corev1.Node) *corev1.NodeCondition {
	for n := range node.Status.Conditions {
		if c := &node.Status.Conditions[n]; c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return c
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

func bootstrapperAsks(csr *certv1.CertificateSigningRequest, _ *x509.CertificateRequest) error {
	if !fromBootstrapper(csr) {
		return fmt.Errorf("require a node bootstrapper to ask, found %s", csr.Spec.Username)
	}
	return nil
}

func nodeAsks(csr *certv1.CertificateSigningRequest, parsed *x509.CertificateRequest) error {
	if csr.Spec.Username != parsed.Subject.CommonName || !slices.Contains(csr.Spec.Groups, nodesGroup) {
		return fmt.Errorf("require node %s itself to ask, found %s", parsed.Subject.CommonName, csr.Spec.Username)
	}
	return nil
}

func nodeSubject(_ *certv1.CertificateSigningRequest, parsed *x509.CertificateRequest) error {
	subject := parsed.Subject
	if !strings.HasPrefix(subject.CommonName, nodePrefix) {
		return fmt.Errorf("require the common name of a node, found %q", subject.CommonName)
	}
	if !slices.Equal(subject.Organization, []string{nodesGroup}) {
		return fmt.Errorf("require organization %s alone, found %q", nodesGroup, subject.Organization)
	}
	return nil
}

// usagesAre requires the given use next to digital signatures; keys of RSA also ask
// for key encipherment.
func usagesAre(use certv1.KeyUsage) rule {
	return func(csr *certv1.CertificateSigningRequest, _ *x509.CertificateRequest) error {
		allowed := []certv1.KeyUsage{use, certv1.UsageDigitalSignature, certv1.UsageKeyEncipherment}
		for _, u := range csr.Spec.Usages {
			if !slices.Contains(allowed, u) {
				return fmt.Errorf("require no other usages than %v, found %s", allowed, u)
			}
		}
		for _, u := range allowed[:2] {
			if !slices.Contains(csr.Spec.Usages, u) {
				return fmt.Errorf("require usage %s, found %v", u, csr.Spec.Usages)
			}
		}
		return nil
	}
}

func noAlternativeNames(_ *certv1.CertificateSigningRequest, parsed *x509.CertificateRequest) error {
	if n := len(parsed.DNSNames) + len(parsed.IPAddresses) + len(parsed.EmailAddresses) + len(parsed.URIs); n > 0 {
		return fmt.Errorf("require no alternative names in a client certificate, found %d", n)
	}
	return nil
}

func alternativeNames(_ *certv1.CertificateSigningRequest, parsed *x509.CertificateRequest) error {
	if len(parsed.EmailAddresses)+len(parsed.URIs) > 0 {
		return errors.New("must not contain e-mail addresses or URIs")
	}
	if len(parsed.DNSNames)+len(parsed.IPAddresses) == 0 {
		return errors.New("a name or an address is required")
	}
	return nil
}
