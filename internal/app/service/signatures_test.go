package service

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
	"slipway/internal/images/release"
	"slipway/internal/images/release/signature"
	"slipway/internal/model"
)

// keyFiles writes a public key of OpenPGP and one of cosign.
func keyFiles(t *testing.T) (openPGP, cosign string) {
	t.Helper()
	key, err := openpgp.NewEntity("Release", "", "release@example.com", nil)
	require.NoError(t, err)
	var b bytes.Buffer
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	require.NoError(t, err)
	require.NoError(t, key.Serialize(w))
	require.NoError(t, w.Close())
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(curve.Public())
	require.NoError(t, err)
	dir := t.TempDir()
	openPGP, cosign = filepath.Join(dir, "release.asc"), filepath.Join(dir, "cosign.pub")
	require.NoError(t, os.WriteFile(openPGP, b.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(cosign, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600))
	return openPGP, cosign
}

func TestSignaturesAreSettings(t *testing.T) {
	t.Parallel()
	openPGP, cosign := keyFiles(t)
	stores := []string{"https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release", "file://" + t.TempDir()}
	out, err := readSignatures(settings.Deployment{
		SignatureKeys: []string{openPGP, openPGP}, CosignKeys: []string{cosign}, SignatureStores: stores,
	})
	require.NoError(t, err)
	require.Equal(t, signature.Require, out.Policy, "a key is given to be used")
	require.Len(t, out.Keys, 2)
	require.Len(t, out.CosignKeys, 1)
	require.Len(t, out.Stores, 2)
	out, err = readSignatures(settings.Deployment{CosignKeys: []string{cosign}, Signatures: "warn"})
	require.NoError(t, err)
	require.Equal(t, signature.Warn, out.Policy)
	out, err = readSignatures(settings.Deployment{SignatureKeys: []string{openPGP}, Signatures: "off"})
	require.NoError(t, err)
	require.Equal(t, signature.Off, out.Policy)

	for name, c := range map[string]struct {
		o    settings.Deployment
		want string
	}{
		"an unknown policy": {
			settings.Deployment{Signatures: "on"}, `--release-signatures: require off, warn or require, found "on"`,
		},
		"a policy without a key": {
			settings.Deployment{Signatures: "require"},
			"--release-signatures: require requires a key: --release-signature-keys or --release-cosign-keys",
		},
		"keys without a store": {
			settings.Deployment{SignatureKeys: []string{openPGP}}, "--release-signature-keys: require --release-signature-stores",
		},
		"a store without keys": {
			settings.Deployment{CosignKeys: []string{cosign}, SignatureStores: stores},
			"--release-signature-stores: require --release-signature-keys",
		},
		"a store that is no address": {
			settings.Deployment{SignatureStores: []string{"mirror"}}, "--release-signature-stores: require a signature store such as",
		},
		"a key that is no file": {
			settings.Deployment{SignatureKeys: []string{"/no/such/key"}}, "--release-signature-keys: open /no/such/key",
		},
		"a key of another kind": {
			settings.Deployment{SignatureKeys: []string{cosign}}, "--release-signature-keys: " + cosign + ": require public keys of OpenPGP",
		},
		"a cosign key of another kind": {
			settings.Deployment{CosignKeys: []string{openPGP}}, "--release-cosign-keys: " + openPGP + ": require",
		},
	} {
		_, err := readDeployment(c.o, notInFIPS)
		require.ErrorContains(t, err, c.want, name)
	}
}

// A store that a setting names is reached wherever it is; what it leads to is not.
func TestAStoreOfTheSettingsIsReached(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	store, err := signature.ParseStore("http://" + listener.Addr().String() + "/release")
	require.NoError(t, err)
	s := &Service{}
	o, err := s.outbound(release.Options{Signatures: signature.Options{Stores: []signature.Store{store}}})
	require.NoError(t, err)
	c, err := o.DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, c.Close())
	_, err = o.DialContext(t.Context(), "tcp", "169.254.169.254:80")
	require.ErrorIs(t, err, model.ErrUnprocessable)
	s.DatabaseURL, s.Temporal.Options.HostPort = "postgres://a@192.0.2.9:5432/slipway", "192.0.2.10:7233"
	o, err = s.outbound(release.Options{})
	require.NoError(t, err)
	_, err = o.DialContext(t.Context(), "tcp", listener.Addr().String())
	require.ErrorIs(t, err, model.ErrUnprocessable)
	for _, part := range []string{"192.0.2.9:5432", "192.0.2.10:7233"} {
		o.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		_, err = o.DialContext(t.Context(), "tcp", part)
		require.ErrorIs(t, err, model.ErrUnprocessable, part)
	}
}

func TestHostsThatUsersMayNameAreRead(t *testing.T) {
	t.Parallel()
	s := &Service{options: settings.Service{FetchHosts: []string{"127.0.0.1:5000"}, FetchNetworks: []string{"192.0.2.7/24"}}}
	o, err := s.outbound(release.Options{})
	require.NoError(t, err)
	require.Contains(t, o.Hosts, "127.0.0.1:5000")
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, o.Networks)
	s.options.FetchHosts = []string{"registry.example.com"}
	_, err = s.outbound(release.Options{})
	require.EqualError(t, err, `read --fetch-hosts: require host:port, found "registry.example.com"`)
	s.options.FetchHosts, s.options.FetchNetworks = nil, []string{"192.0.2.7"}
	_, err = s.outbound(release.Options{})
	require.EqualError(t, err, `read --fetch-networks: require networks such as 192.0.2.0/24, found "192.0.2.7"`)
}
