package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/internal/platform/certificates"
)

// secretName names the Secret that the processes share. It has an authority of their own: only the API server has to trust it.
const secretName = "slipway-kube-webhook"

// Keys of the Secret beside tls.crt and tls.key.
const (
	authorityKey = "ca.key"
	// bundleKey has the authority, and before it in time, the authority that other processes may still serve with.
	bundleKey = "ca.crt"
)

// Lives of the certificates. An authority is replaced while the API server trusts the former one too.
const (
	authorityLife  = 5 * 365 * 24 * time.Hour
	authorityRenew = 365 * 24 * time.Hour
	servingLife    = 90 * 24 * time.Hour
	servingRenew   = 30 * 24 * time.Hour
	readEvery      = 5 * time.Minute
	retryEvery     = 5 * time.Second
)

// certificate keeps the certificate that the webhook serves with, and replaces it in time.
type certificate struct {
	api       kube.Reader // not the cache, which has labelled Secrets only
	kube      kube.Client
	namespace string
	host      string // name or address that the API server connects to
	now       func() time.Time
	log       *slog.Logger

	mu      sync.Mutex
	serving *tls.Certificate
	bundle  []byte
	renewed chan struct{} // has an element after bundle has changed
}

// NeedLeaderElection lets every process serve.
func (*certificate) NeedLeaderElection() bool { return false }

// Start keeps the certificate until ctx ends.
func (c *certificate) Start(ctx context.Context) error {
	for {
		wait := readEvery
		if err := c.look(ctx); err != nil {
			if ctx.Err() == nil {
				c.log.WarnContext(ctx, "the certificate of the webhook is not read; it will be", "error", err)
			}
			wait = retryEvery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// get serves the certificate; it is a field of tls.Config.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serving == nil {
		return nil, errors.New("the certificate of the webhook is not read yet")
	}
	return c.serving, nil
}

// trusted returns the authorities that the API server has to trust, PEM.
func (c *certificate) trusted() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bundle
}

// look reads the Secret, and makes or renews what is missing in it, damaged or near its end. Two processes that do so at once read what
// the first has written.
func (c *certificate) look(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := c.api.Get(ctx, types.NamespacedName{Namespace: c.namespace, Name: secretName}, secret)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return fmt.Errorf("read Secret %s/%s: %w", c.namespace, secretName, err)
	}
	changed, err := c.renew(secret)
	if err != nil {
		return err
	}
	switch {
	case missing:
		secret.ObjectMeta = metav1.ObjectMeta{Namespace: c.namespace, Name: secretName}
		secret.Type = corev1.SecretTypeTLS
		err = c.kube.Create(ctx, secret)
	case changed:
		err = c.kube.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("write Secret %s/%s: %w", c.namespace, secretName, err)
	}
	serving, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return fmt.Errorf("read Secret %s/%s: %w", c.namespace, secretName, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serving = &serving
	if bundle := secret.Data[bundleKey]; !slices.Equal(bundle, c.bundle) {
		c.bundle = bundle
		select {
		case c.renewed <- struct{}{}:
		default:
		}
	}
	return nil
}

// renew completes the data of the Secret.
func (c *certificate) renew(secret *corev1.Secret) (changed bool, err error) {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	authority, current := c.authority(secret)
	if !current {
		var pair certificates.Pair
		subject := x509.Certificate{Subject: pkix.Name{CommonName: "Slipway webhook"}}
		if authority, pair, err = certificates.NewAuthority(subject, c.now(), authorityLife); err != nil {
			return false, err
		}
		secret.Data[bundleKey] = slices.Concat(pair.Certificate, c.unexpired(secret.Data[bundleKey]))
		secret.Data[authorityKey] = pair.Key
	}
	names := []string{c.host}
	served := certificates.Pair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
	if authority.Vouches(served, names, c.now().Add(servingRenew)) {
		return false, nil
	}
	pair, err := authority.IssueServer(names, c.now(), servingLife)
	if err != nil {
		return false, err
	}
	secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = pair.Certificate, pair.Key
	return true, nil
}

// authority reads the authority of the Secret; false where it is missing, damaged or near its end.
func (c *certificate) authority(secret *corev1.Secret) (*certificates.Authority, bool) {
	authority, err := certificates.ParseAuthority(certificates.Pair{Certificate: secret.Data[bundleKey], Key: secret.Data[authorityKey]})
	return authority, err == nil && authority.Ends().After(c.now().Add(authorityRenew))
}

// unexpired returns the certificates of a bundle that have not ended.
func (c *certificate) unexpired(bundle []byte) (left []byte) {
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return left
		}
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil && parsed.NotAfter.After(c.now()) {
			left = append(left, pem.EncodeToMemory(block)...)
		}
	}
}
