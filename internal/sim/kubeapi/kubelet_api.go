package kubeapi

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// createdAnnotation keeps the creation time with fractions of a second, which
// metadata.creationTimestamp does not.
const createdAnnotation = "simulated.slipway/created-at"

// certRequest is a certificate a kubelet wants. Its name is fixed, so that a kubelet
// started again finds the request it made before.
type certRequest struct {
	name, signer string
	usage        certv1.KeyUsage
	dnsNames     []string
	addresses    []netip.Addr
}

// certificate makes the request unless it exists and reports whether it was answered.
func (k *kubelet) certificate(ctx context.Context, as kubernetes.Interface, want certRequest) (bool, error) {
	requests := as.CertificatesV1().CertificateSigningRequests()
	csr, err := requests.Get(ctx, want.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if csr, err = k.newCSR(want); err == nil {
			csr, err = requests.Create(ctx, csr, metav1.CreateOptions{})
		}
	}
	if err != nil {
		return false, err
	}
	for _, c := range csr.Status.Conditions {
		if c.Type == certv1.CertificateDenied {
			return false, &permanentError{fmt.Errorf("%w: %s: %s", ErrCSRDenied, csr.Name, c.Message)}
		}
	}
	return len(csr.Status.Certificate) > 0, nil
}

func (k *kubelet) newCSR(want certRequest) (*certv1.CertificateSigningRequest, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: nodeUser(k.spec.Name), Organization: []string{"system:nodes"}},
		DNSNames: want.dnsNames,
	}
	for _, a := range want.addresses {
		template.IPAddresses = append(template.IPAddresses, net.IP(a.AsSlice()))
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return nil, err
	}
	return &certv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: want.name},
		Spec: certv1.CertificateSigningRequestSpec{
			SignerName: want.signer,
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			Usages:     []certv1.KeyUsage{certv1.UsageDigitalSignature, want.usage},
		},
	}, nil
}

// ensureNode creates the node, not Ready and with its addresses, unless that was done.
func (k *kubelet) ensureNode(ctx context.Context) (*corev1.Node, error) {
	nodes := k.node.CoreV1().Nodes()
	node, err := nodes.Get(ctx, k.spec.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err = nodes.Create(ctx, k.newNode(), metav1.CreateOptions{})
	}
	if err != nil || len(node.Status.Conditions) > 0 {
		return node, err
	}
	if err := k.setReady(ctx, node, corev1.ConditionFalse); err != nil {
		return nil, err
	}
	return nodes.Get(ctx, k.spec.Name, metav1.GetOptions{})
}

func (k *kubelet) newNode() *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: k.spec.Name, corev1.LabelOSStable: "linux",
		corev1.LabelArchStable: cmp.Or(k.spec.Architecture, runtime.GOARCH),
	}
	for _, role := range k.spec.Roles {
		labels["node-role.kubernetes.io/"+role] = ""
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: k.spec.Name, Labels: labels,
		Annotations: map[string]string{createdAnnotation: k.spec.Now().UTC().Format(time.RFC3339Nano)},
	}}
	node.Spec.Taints = []corev1.Taint{{Key: notReadyTaint, Effect: corev1.TaintEffectNoSchedule}}
	if k.spec.Uninitialized {
		node.Spec.Taints = append(node.Spec.Taints,
			corev1.Taint{Key: uninitializedTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	node.Spec.Taints = append(node.Spec.Taints, k.spec.Taints...)
	return node
}

// schedule removes the taint of a node that is ready, as the node controller does.
func (k *kubelet) schedule(ctx context.Context, node *corev1.Node) (*corev1.Node, error) {
	if !removeTaint(node, notReadyTaint) {
		return node, nil
	}
	return k.node.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
}

// age returns how long the node exists.
func (k *kubelet) age(node *corev1.Node) time.Duration {
	created, err := time.Parse(time.RFC3339Nano, node.Annotations[createdAnnotation])
	if err != nil {
		created = node.CreationTimestamp.Time
	}
	return k.spec.Now().Sub(created)
}

func (k *kubelet) setReady(ctx context.Context, node *corev1.Node, status corev1.ConditionStatus) error {
	node = node.DeepCopy()
	now := metav1.NewTime(k.spec.Now())
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: status, LastHeartbeatTime: now, LastTransitionTime: now,
		Reason: "Simulated", Message: "reported by the simulated kubelet",
	}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: k.spec.Name}}
	for _, a := range k.spec.Addresses {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a.String()})
	}
	if _, err := k.node.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("set node %s ready %s: %w", node.Name, status, err)
	}
	return nil
}
