package kubeapi

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const csrKind = "CertificateSigningRequest"

// The signer's key and certificate are a Secret of the cluster itself, as they are in
// OpenShift, and so survive a restart.
const (
	signerNamespace = "openshift-kube-controller-manager-operator"
	signerSecret    = "csr-signer"
)

// signer issues certificates for approved requests of kubelets.
type signer struct {
	key  crypto.Signer
	cert *x509.Certificate
	now  func() time.Time
}

// extKeyUsages are the signers whose requests are answered, and what for. Requests to
// other signers wait for a signer of their own indefinitely, as in a real cluster.
var extKeyUsages = map[string]x509.ExtKeyUsage{
	certv1.KubeAPIServerClientKubeletSignerName: x509.ExtKeyUsageClientAuth,
	certv1.KubeletServingSignerName:             x509.ExtKeyUsageServerAuth,
}

func loadSigner(s *store, now func() time.Time) (*signer, error) {
	at := ref{resourceOfKind(kind("", "v1", "Secret")), signerNamespace, signerSecret}
	secret, err := s.get(at)
	if apierrors.IsNotFound(err) {
		if secret, err = newSignerSecret(now()); err == nil {
			secret, err = s.create(at, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make the certificate signer: %w", err)
	}
	key, err := secretBlock(secret, "tls.key")
	if err != nil {
		return nil, err
	}
	crt, err := secretBlock(secret, "tls.crt")
	if err != nil {
		return nil, err
	}
	parsed, keyErr := x509.ParseECPrivateKey(key)
	cert, certErr := x509.ParseCertificate(crt)
	if err := errors.Join(keyErr, certErr); err != nil {
		return nil, fmt.Errorf("load the certificate signer: %w", err)
	}
	return &signer{key: parsed, cert: cert, now: now}, nil
}

func secretBlock(secret object, key string) ([]byte, error) {
	encoded, _, err := unstructured.NestedString(secret.Object, "data", key)
	if err != nil {
		return nil, fmt.Errorf("load %s of the certificate signer: %w", key, err)
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("load %s of the certificate signer: %w", key, err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("load %s of the certificate signer: require PEM", key)
	}
	return block.Bytes, nil
}

func newSignerSecret(now time.Time) (object, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := selfSigned("kube-csr-signer", key, now)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	encode := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"type": "kubernetes.io/tls",
		"data": map[string]any{"tls.key": encode("EC PRIVATE KEY", keyDER), "tls.crt": encode("CERTIFICATE", der)},
	}}, nil
}

// selfSigned makes a certificate authority of ten years (DER).
func selfSigned(name string, key crypto.Signer, now time.Time) ([]byte, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Minute), NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	return x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
}

// stampRequester writes who asks into a request, whatever the sender claimed.
func stampRequester(r *http.Request, csr object) {
	name, groups := user(r)
	list := make([]any, len(groups))
	for i, g := range groups {
		list[i] = g
	}
	unstructured.SetNestedField(csr.Object, name, "spec", "username") //nolint:errcheck // a spec that is no object fails in settle
	unstructured.SetNestedSlice(csr.Object, list, "spec", "groups")   //nolint:errcheck // as above
}

// settle issues the certificate of a request that was approved and has none yet.
func (s *signer) settle(obj object) (object, error) {
	var csr certv1.CertificateSigningRequest
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &csr); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	usage, known := extKeyUsages[csr.Spec.SignerName]
	if !known || len(csr.Status.Certificate) > 0 || !approved(&csr) {
		return obj, nil
	}
	issued, err := s.sign(csr.Spec.Request, usage)
	if err != nil {
		return nil, apierrors.NewBadRequest("sign " + csr.Name + ": " + err.Error())
	}
	encoded := base64.StdEncoding.EncodeToString(issued)
	if err := unstructured.SetNestedField(obj.Object, encoded, "status", "certificate"); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj, nil
}

func (s *signer) sign(request []byte, usage x509.ExtKeyUsage) ([]byte, error) {
	block, _ := pem.Decode(request)
	if block == nil {
		return nil, errors.New("require a PEM request")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := asked.CheckSignature(); err != nil {
		return nil, err
	}
	now := s.now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: asked.Subject, DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses,
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage}, BasicConstraintsValid: true,
	}, s.cert, asked.PublicKey, s.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func approved(csr *certv1.CertificateSigningRequest) bool {
	ok := false
	for _, c := range csr.Status.Conditions {
		switch c.Type {
		case certv1.CertificateDenied, certv1.CertificateFailed:
			return false
		case certv1.CertificateApproved:
			ok = true
		}
	}
	return ok
}
