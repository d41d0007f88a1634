package signature_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/release/signature"
	"slipway/internal/model"
	"slipway/internal/platform/guard"
)

const (
	digest = "sha256:f4a2a3c5c3b7c0ff1b3b5c0a3d5e5f6071829304a5b6c7d8e9fa0b1c2d3e4f50"
	other  = "sha256:00000000000000000000000000000000000000000000000000000000000000aa"
	path   = "/sha256=f4a2a3c5c3b7c0ff1b3b5c0a3d5e5f6071829304a5b6c7d8e9fa0b1c2d3e4f50/signature-"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// at returns a configuration of OpenPGP at a time.
func at(t time.Time) *packet.Config {
	return &packet.Config{Time: func() time.Time { return t }, Algorithm: packet.PubKeyAlgoEdDSA, DefaultHash: crypto.SHA256}
}

// newKey makes a key pair that is valid for so long from the first of January on; zero: without a limit.
func newKey(t *testing.T, valid time.Duration) *openpgp.Entity {
	t.Helper()
	config := at(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	config.KeyLifetimeSecs = uint32(valid / time.Second)
	key, err := openpgp.NewEntity("Release", "", "release@example.com", config)
	require.NoError(t, err)
	return key
}

// public returns the armored public half of a key.
func public(t *testing.T, key *openpgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	require.NoError(t, err)
	require.NoError(t, key.Serialize(w))
	require.NoError(t, w.Close())
	return append(b.Bytes(), '\n')
}

// sign makes a signed message.
func sign(t *testing.T, key *openpgp.Entity, text string, config *packet.Config) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := openpgp.Sign(&b, key, nil, config)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// statement returns the text that a release is signed by, as Red Hat writes it.
func statement(kind, digest string) string {
	return `{"critical": {"image": {"docker-manifest-digest": "` + digest + `"}, "type": "` + kind + `", "identity": ` +
		`{"docker-reference": "quay.io/openshift-release-dev/ocp-release:4.20.33-x86_64"}}, "optional": {"creator": "Red Hat", "timestamp": 1}}`
}

const atomic = "atomic container signature"

// store serves the signatures at their places.
func store(t *testing.T, signatures ...[]byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for n, s := range signatures {
			if r.URL.Path == "/release"+path+fmt.Sprint(n+1) {
				_, _ = w.Write(s)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/release"
}

// verifier verifies by the keys and stores, and reaches nothing of this machine but the stores.
func verifier(t *testing.T, keys []byte, stores ...string) *signature.Verifier {
	t.Helper()
	o := signature.Options{Policy: signature.Require, Now: func() time.Time { return now }, Timeout: 10 * time.Second}
	var err error
	o.Keys, err = signature.ParseKeys(keys)
	require.NoError(t, err)
	var outbound guard.Outbound
	for _, text := range stores {
		s, err := signature.ParseStore(text)
		require.NoError(t, err)
		o.Stores = append(o.Stores, s)
		outbound.Hosts = append(outbound.Hosts, s.Host())
	}
	transport := &http.Transport{DialContext: outbound.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	o.Transport = transport
	return signature.New(o)
}

func TestASignatureOfAStoreIsVerified(t *testing.T) {
	t.Parallel()
	key, stranger := newKey(t, 0), newKey(t, 0)
	good := sign(t, key, statement(atomic, digest), at(now.Add(-time.Hour)))
	want := fmt.Sprintf("OpenPGP key %X", key.PrimaryKey.Fingerprint)

	folder := t.TempDir()
	file := filepath.Join(folder, path+"1")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, good, 0o600))
	for name, stores := range map[string][]string{
		"of http":                              {store(t, good)},
		"of a folder":                          {"file://" + folder},
		"behind an empty store":                {store(t), store(t, good)},
		"behind one that fails":                {"http://127.0.0.1:1/release", store(t, good)},
		"of a stranger before":                 {store(t, sign(t, stranger, statement(atomic, digest), at(now)), good)},
		"of an address that ends with a slash": {store(t, good) + "/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := append(public(t, newKey(t, 0)), public(t, key)...) // two blocks in a file
			by, err := verifier(t, keys, stores...).Verify(t.Context(), signature.Image{Digest: digest})
			require.NoError(t, err)
			require.Equal(t, want, by)
		})
	}
}

func TestABadSignatureIsRefused(t *testing.T) {
	t.Parallel()
	key := newKey(t, 0)
	keys := public(t, key)
	good := sign(t, key, statement(atomic, digest), at(now))
	expired := newKey(t, 24*time.Hour)
	short := at(now.Add(-time.Hour))
	short.SigLifetimeSecs = 60
	for name, c := range map[string]struct {
		message []byte
		keys    []byte
		want    string
	}{
		"of another image": {sign(t, key, statement(atomic, other), at(now)), keys, `it is of another image, "` + other + `"`},
		"of another key":   {sign(t, newKey(t, 0), statement(atomic, digest), at(now)), keys, "it is not by a key of --release-signature-keys"},
		"of a key that has expired": {
			sign(t, expired, statement(atomic, digest), at(time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC))), public(t, expired),
			"it is by a key that has expired",
		},
		"that has expired": {sign(t, key, statement(atomic, digest), short), keys, "it has expired"},
		"whose text was changed": {
			bytes.Replace(sign(t, key, statement(atomic, other), at(now)), []byte(other), []byte(digest), 1), keys, "it is not good",
		},
		"of another type": {sign(t, key, statement("cosign container image signature", digest), at(now)), keys, "to be of type"},
		"without an identity": {
			sign(t, key, `{"critical":{"type":"`+atomic+`","image":{"docker-manifest-digest":"`+digest+`"}}}`, at(now)), keys,
			"require a docker-reference",
		},
		"of no JSON":             {sign(t, key, "signed", at(now)), keys, "read what is signed"},
		"without a signature":    {literal(t, statement(atomic, digest)), keys, "found no signature in it"},
		"that is no message":     {[]byte("<html>"), keys, "require a signed message of OpenPGP"},
		"of no bytes":            {[]byte{}, keys, "found no signature in it"},
		"that is cut off":        {good[:len(good)-5], keys, "require a signed message of OpenPGP"},
		"of too many bytes":      {bytes.Repeat([]byte("a"), 64<<10+1), keys, "require a signature of at most 65536 bytes, found more"},
		"that unpacks to more":   {packed(t, key), keys, "decompressed message size exceeds provided limit"},
		"of too many signatures": {append(bytes.Repeat(trailing(t, good), 40), good...), keys, "require at most 32 packets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := store(t, c.message)
			_, err := verifier(t, c.keys, at).Verify(t.Context(), signature.Image{Digest: digest})
			require.ErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "require a signature of release "+digest)
			require.ErrorContains(t, err, at+path+"1: ")
		})
	}
}

// literal returns a message without a signature.
func literal(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := packet.SerializeLiteral(nopCloser{&b}, true, "", 0)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }

// packed returns a small message whose text is a large one.
func packed(t *testing.T, key *openpgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := packet.SerializeCompressed(nopCloser{&b}, packet.CompressionZLIB, &packet.CompressionConfig{Level: 9})
	require.NoError(t, err)
	_, err = w.Write(sign(t, key, statement(atomic, digest)+strings.Repeat(" ", 8<<20), at(now)))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, b.Len(), 64<<10)
	return b.Bytes()
}

// trailing returns the signature packet of a signed message.
func trailing(t *testing.T, message []byte) []byte {
	t.Helper()
	packets := packet.NewReader(bytes.NewReader(message))
	for {
		p, err := packets.Next()
		require.NoError(t, err)
		switch p := p.(type) {
		case *packet.LiteralData:
			_, err := io.Copy(io.Discard, p.Body)
			require.NoError(t, err)
		case *packet.Signature:
			var b bytes.Buffer
			require.NoError(t, p.Serialize(&b))
			return b.Bytes()
		}
	}
}

// GnuPG made the files, as `gpg --sign` does: packed.
func TestAMessageOfGnuPGIsVerified(t *testing.T) {
	t.Parallel()
	keys, err := os.ReadFile("testdata/gnupg.asc")
	require.NoError(t, err)
	message, err := os.ReadFile("testdata/gnupg.sig")
	require.NoError(t, err)
	by, err := verifier(t, keys, store(t, message)).Verify(t.Context(), signature.Image{Digest: digest})
	require.NoError(t, err)
	fingerprint, err := os.ReadFile("testdata/gnupg.fingerprint")
	require.NoError(t, err)
	require.Equal(t, "OpenPGP key "+strings.TrimSpace(string(fingerprint)), by)
	_, err = verifier(t, keys, store(t, message)).Verify(t.Context(), signature.Image{Digest: other})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	weak, err := os.ReadFile("testdata/gnupg-sha1.sig") // the same, with a hash that others can make collide
	require.NoError(t, err)
	_, err = verifier(t, keys, store(t, weak)).Verify(t.Context(), signature.Image{Digest: digest})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "hash algorithm")
}

func TestAStoreThatFailsIsAskedAgainLater(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(stop) })
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(failing.Close)
	keys := public(t, newKey(t, 0))
	for name, c := range map[string]struct{ at, want string }{
		"it hangs":            {hanging.URL, "deadline exceeded"},
		"it does not listen":  {"http://127.0.0.1:1", "connection refused"},
		"it has a bad moment": {failing.URL, "it answers with status 502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := signature.Options{Policy: signature.Require, Timeout: 200 * time.Millisecond, Transport: http.DefaultTransport}
			var err error
			o.Keys, err = signature.ParseKeys(keys)
			require.NoError(t, err)
			s, err := signature.ParseStore(c.at)
			require.NoError(t, err)
			o.Stores = []signature.Store{s}
			_, err = signature.New(o).Verify(t.Context(), signature.Image{Digest: digest})
			require.ErrorIs(t, err, model.ErrUnavailable)
			require.NotErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, c.at+path+"1: ")
		})
	}
}

func TestAStoreLeadsToNoOtherServiceOfTheMachine(t *testing.T) {
	t.Parallel()
	key := newKey(t, 0)
	inner := store(t, sign(t, key, statement(atomic, digest), at(now))) // good, and yet not to be asked
	for name, c := range map[string]struct{ to, want string }{
		"loopback":               {inner + path + "1", "require an address beyond this machine and its links"},
		"metadata of a VM":       {"http://169.254.169.254/latest/meta-data", "require an address beyond this machine and its links"},
		"metadata over v6":       {"http://[fd00:ec2::254]/latest/meta-data", "require an address beyond this machine and its links"},
		"itself, without an end": {"", "require at most 5 redirects"},
		"a file of ours":         {"file:///etc/passwd", `unsupported protocol scheme "file"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				to := c.to
				if to == "" {
					to = r.URL.Path
				}
				http.Redirect(w, r, to, http.StatusFound)
			}))
			t.Cleanup(server.Close)
			_, err := verifier(t, public(t, key), server.URL).Verify(t.Context(), signature.Image{Digest: digest})
			require.ErrorContains(t, err, c.want)
		})
	}
}

// encrypted stays encrypted: a store of https that leads to http is not followed.
func TestAStoreOfHTTPSLeadsToNoPlainHTTP(t *testing.T) {
	t.Parallel()
	key := newKey(t, 0)
	inner := store(t, sign(t, key, statement(atomic, digest), at(now)))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inner+path+"1", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	keys, err := signature.ParseKeys(public(t, key))
	require.NoError(t, err)
	s, err := signature.ParseStore(server.URL)
	require.NoError(t, err)
	v := signature.New(signature.Options{Keys: keys, Stores: []signature.Store{s}, Transport: server.Client().Transport})
	_, err = v.Verify(t.Context(), signature.Image{Digest: digest})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require a redirect to https")
}

func TestAPlaceInAFolderMustBeAFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, path+"1"), 0o700))
	_, err := verifier(t, public(t, newKey(t, 0)), "file://"+folder).Verify(t.Context(), signature.Image{Digest: digest})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "signature-1: require a file")
}

func TestADigestIsRequired(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "sha256:abc", "sha512:" + digest[7:], digest + "/../x", strings.ToUpper(digest)} {
		_, err := verifier(t, public(t, newKey(t, 0))).Verify(t.Context(), signature.Image{Digest: bad})
		require.ErrorIs(t, err, model.ErrInvalid, bad)
	}
}

// cosignKey is a key pair of cosign.
type cosignKey struct{ crypto.Signer }

func (k cosignKey) pem(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func (k cosignKey) sign(t *testing.T, payload string) signature.Attached {
	t.Helper()
	sum := sha256.Sum256([]byte(payload))
	raw, err := k.Sign(rand.Reader, sum[:], crypto.SHA256)
	require.NoError(t, err)
	return signature.Attached{Payload: []byte(payload), Signature: base64.StdEncoding.EncodeToString(raw)}
}

func TestASignatureOfCosignIsVerified(t *testing.T) {
	t.Parallel()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	kind := "cosign container image signature"
	changed := cosignKey{curve}.sign(t, statement(kind, other))
	changed.Payload = []byte(statement(kind, digest))
	noBase64 := cosignKey{curve}.sign(t, statement(kind, digest))
	noBase64.Signature = "*"
	keys, err := signature.ParseCosignKeys(append(cosignKey{curve}.pem(t), cosignKey{long}.pem(t)...))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		found []signature.Attached
		err   error
		key   crypto.Signer
		want  string
	}{
		"of ECDSA":         {found: []signature.Attached{cosignKey{curve}.sign(t, statement(kind, digest))}, key: curve},
		"of RSA":           {found: []signature.Attached{cosignKey{long}.sign(t, statement(kind, digest))}, key: long},
		"behind a bad one": {found: []signature.Attached{changed, cosignKey{curve}.sign(t, statement(kind, digest))}, key: curve},

		"of another image":  {found: []signature.Attached{cosignKey{curve}.sign(t, statement(kind, other))}, want: "it is of another image"},
		"of another key":    {found: []signature.Attached{cosignKey{stranger}.sign(t, statement(kind, digest))}, want: "it is not by a key of"},
		"that was changed":  {found: []signature.Attached{changed}, want: "it is not by a key of --release-cosign-keys"},
		"of another type":   {found: []signature.Attached{cosignKey{curve}.sign(t, statement(atomic, digest))}, want: "to be of type"},
		"without base64":    {found: []signature.Attached{noBase64}, want: "require a signature in base64"},
		"that is not there": {want: "the tag: there is none"},
		"that is not found": {err: model.NotFoundf("no such image"), want: "the tag: there is none"},
		"that is not given": {err: model.Unprocessablef("no entry"), want: "the tag: no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := signature.New(signature.Options{CosignKeys: keys})
			by, err := v.Verify(t.Context(), signature.Image{Digest: digest, Attached: func(context.Context) ([]signature.Attached, string, error) {
				return c.found, "the tag", c.err
			}})
			if c.key != nil {
				require.NoError(t, err)
				der, err := x509.MarshalPKIXPublicKey(c.key.Public())
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("cosign key %x", sha256.Sum256(der)), by)
				return
			}
			require.ErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestSettingsOfSignaturesAreChecked(t *testing.T) {
	t.Parallel()
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(edwards)
	require.NoError(t, err)
	short, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 1023, 1), E: 65537})
	require.NoError(t, err)
	block := func(kind string, data []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
	}
	for text, want := range map[string]string{
		"":                           "require public keys in PEM, found none",
		block("PRIVATE KEY", der):    "of type PUBLIC KEY, found PRIVATE KEY",
		block("PUBLIC KEY", der):     "of ECDSA or RSA, found ed25519.PublicKey",
		block("PUBLIC KEY", short):   "of RSA with at least 2048 bits, found 1024",
		block("PUBLIC KEY", der[:5]): "read a public key",
	} {
		_, err := signature.ParseCosignKeys([]byte(text))
		require.ErrorIs(t, err, model.ErrInvalid, text)
		require.ErrorContains(t, err, want)
	}
	for _, text := range []string{"", "no key", "-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n"} {
		_, err := signature.ParseKeys([]byte(text))
		require.ErrorIs(t, err, model.ErrInvalid, text)
	}
	for _, text := range []string{
		"", "mirror.example.com/signatures", "ftp://a/b", "file://relative", "file:///no/such/folder", "https://user:pass@a/b",
		"https://a/b?c=d", ":",
	} {
		_, err := signature.ParseStore(text)
		require.ErrorIs(t, err, model.ErrInvalid, text)
	}
	for address, host := range map[string]string{
		"https://a.example/b": "a.example:443", "http://a.example/b": "a.example:80", "https://[2001:db8::1]:8443": "[2001:db8::1]:8443",
		"file:///": "",
	} {
		s, err := signature.ParseStore(address)
		require.NoError(t, err)
		require.Equal(t, host, s.Host())
	}
	for _, c := range []struct {
		text string
		keys bool
		want signature.Policy
		err  string
	}{
		{"", true, signature.Require, ""},
		{"", false, signature.Off, ""},
		{"off", true, signature.Off, ""},
		{"warn", true, signature.Warn, ""},
		{"require", true, signature.Require, ""},
		{"always", true, "", `require off, warn or require, found "always"`},
		{"warn", false, "", "warn requires a key"},
		{"require", false, "", "require requires a key"},
	} {
		got, err := signature.ParsePolicy(c.text, c.keys)
		require.Equal(t, c.want, got, c.text)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
	}
}
