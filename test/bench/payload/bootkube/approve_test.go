package bootkube_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	certv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"slipway/test/bench/payload/bootkube"
)

func request(t *testing.T, name, node, user, signer string) runtime.Object {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}},
	}, key)
	require.NoError(t, err)
	return &certv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certv1.CertificateSigningRequestSpec{
			Request:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			Username: user, SignerName: signer,
		},
	}
}

func TestApproveLetsOnlyMastersIn(t *testing.T) {
	t.Parallel()
	const client, serving = certv1.KubeAPIServerClientKubeletSignerName, certv1.KubeletServingSignerName
	objects := func() []runtime.Object {
		return []runtime.Object{
			request(t, "1-master", "master-0", bootkube.BootstrapperUser, client),
			request(t, "2-rogue", "rogue", bootkube.BootstrapperUser, client),
			request(t, "3-stranger", "master-1", "system:anonymous", client),
			request(t, "4-serving", "master-0", "system:node:master-0", serving),
			request(t, "5-again", "master-0", bootkube.BootstrapperUser, client),
		}
	}
	for name, c := range map[string]struct {
		approver bootkube.Approver
		want     []string
	}{
		"by their names": {bootkube.Approver{Names: []string{"master-0", "master-1"}}, []string{"1-master", "5-again"}},
		"the first that ask where names are unknown": {bootkube.Approver{Limit: 1}, []string{"1-master", "5-again"}},
		"none of a single node's bootstrap host":     {bootkube.Approver{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kube := fake.NewClientset(objects()...)
			c.approver.Client, c.approver.Log = kube, slog.New(slog.DiscardHandler)
			require.NoError(t, c.approver.Approve(t.Context()))
			list, err := kube.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			var approved []string
			for _, csr := range list.Items {
				if len(csr.Status.Conditions) > 0 {
					approved = append(approved, csr.Name)
				}
			}
			require.Equal(t, c.want, approved)
		})
	}
}
