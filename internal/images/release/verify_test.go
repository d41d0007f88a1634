package release_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/images/release/signature"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// signed makes a folder with the signature of a digest, and returns it with the key it is by.
func signed(t *testing.T, digest string) signature.Options {
	t.Helper()
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}
	key, err := openpgp.NewEntity("Release", "", "release@example.com", config)
	require.NoError(t, err)
	var message bytes.Buffer
	w, err := openpgp.Sign(&message, key, nil, config)
	require.NoError(t, err)
	_, err = w.Write([]byte(`{"critical":{"type":"atomic container signature","image":{"docker-manifest-digest":"` + digest +
		`"},"identity":{"docker-reference":"quay.io/openshift-release-dev/ocp-release:4.20.33-x86_64"}},"optional":{}}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	folder := t.TempDir()
	file := filepath.Join(folder, strings.Replace(digest, ":", "=", 1), "signature-1")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, message.Bytes(), 0o600))
	store, err := signature.ParseStore("file://" + folder)
	require.NoError(t, err)
	return signature.Options{Keys: openpgp.EntityList{key}, Stores: []signature.Store{store}}
}

// published returns the digest of release 4.20.33 at its registry.
func published(t *testing.T, p *payload.Payload) string {
	t.Helper()
	ref, err := name.ParseReference(p.ReleaseImage("4.20.33"), name.Insecure)
	require.NoError(t, err)
	found, err := remote.Head(ref)
	require.NoError(t, err)
	return found.Digest.String()
}

// pinned returns release 4.20.33 by its digest.
func pinned(t *testing.T, p *payload.Payload) string {
	t.Helper()
	return strings.TrimSuffix(p.ReleaseImage("4.20.33"), ":4.20.33-x86_64") + "@" + published(t, p)
}

// verifying opens releases with a policy.
func verifying(t *testing.T, p *payload.Payload, policy signature.Policy, o signature.Options) (*release.Releases, string) {
	t.Helper()
	o.Policy = policy
	return open(t, p, func(r *release.Options) { r.Signatures = o })
}

func TestAReleaseIsVerifiedAsThePolicySays(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	image, digest := p.ReleaseImage("4.20.33"), published(t, p)
	of := signed(t, digest)
	another := signed(t, "sha256:"+strings.Repeat("0", 64))
	need := release.Need{Image: image, Platform: "none", PullSecret: pullSecret}

	r, _ := verifying(t, p, signature.Require, of)
	info, verdict, err := r.Resolve(t.Context(), image, pullSecret)
	require.NoError(t, err)
	require.Equal(t, pinned(t, p), info.PullSpec)
	require.Equal(t, "require", verdict.Policy)
	require.Regexp(t, `^OpenPGP key [0-9A-F]{40}$`, verdict.SignedBy)
	require.Empty(t, verdict.Problem)
	installer, err := r.Installer(t.Context(), need)
	require.NoError(t, err)
	installer.Close()

	r, dir := verifying(t, p, signature.Require, another)
	_, _, err = r.Resolve(t.Context(), image, pullSecret)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "verify release "+image+": require a signature of release "+digest)
	require.ErrorContains(t, err, strings.Replace(digest, ":", "=", 1)+"/signature-1: there is none")
	_, err = r.Installer(t.Context(), need)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require a signature of release")
	require.Empty(t, programs(t, dir), "nothing of the release was fetched to be run")

	r, _ = verifying(t, p, signature.Warn, another)
	_, verdict, err = r.Resolve(t.Context(), image, pullSecret)
	require.NoError(t, err)
	require.Equal(t, "warn", verdict.Policy)
	require.Empty(t, verdict.SignedBy)
	require.Contains(t, verdict.Problem, "/signature-1: there is none")
	installer, err = r.Installer(t.Context(), need)
	require.NoError(t, err)
	installer.Close()

	r, _ = open(t, p, nil)
	_, verdict, err = r.Resolve(t.Context(), image, pullSecret)
	require.NoError(t, err)
	require.Equal(t, model.ReleaseVerdict{Policy: "off"}, verdict)
}

// The Ignition config of a disconnected image is made by a program of the release too.
func TestADisconnectedImageRequiresASignature(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, dir := verifying(t, p, signature.Require, signed(t, "sha256:"+strings.Repeat("0", 64)))
	_, err := r.Unconfigured(t.Context(), &model.Cluster{ReleaseImage: p.ReleaseImage("4.20.33")}, &model.InfraEnv{PullSecret: pullSecret})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require a signature of release")
	require.Empty(t, programs(t, dir))
}

// moveTag lets the tag of a release lead to another one.
func moveTag(t *testing.T, p *payload.Payload, from, to string) {
	t.Helper()
	target, err := name.ParseReference(p.ReleaseImage(to), name.Insecure)
	require.NoError(t, err)
	image, err := remote.Image(target)
	require.NoError(t, err)
	tag, err := name.NewTag(p.ReleaseImage(from), name.Insecure)
	require.NoError(t, err)
	require.NoError(t, remote.Tag(tag, image))
}

func TestATagThatMovesDoesNotChangeAResolvedRelease(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Versions: []string{"4.20.33", "4.20.34"}})
	image := p.ReleaseImage("4.20.33")
	r, _ := verifying(t, p, signature.Require, signed(t, published(t, p)))
	info, _, err := r.Resolve(t.Context(), image, pullSecret)
	require.NoError(t, err)
	moveTag(t, p, "4.20.33", "4.20.34")

	installer, err := r.Installer(t.Context(), release.Need{Image: info.PullSpec, Platform: "none", PullSecret: pullSecret})
	require.NoError(t, err)
	defer installer.Close()
	require.Equal(t, "4.20.33", installer.Release.Version)
	require.Equal(t, info.PullSpec, installer.Release.PullSpec)

	_, _, err = r.Resolve(t.Context(), image, pullSecret)
	require.ErrorIs(t, err, model.ErrUnprocessable, "what the tag leads to now has no signature")
}

func TestAReleaseIsVerifiedByASignatureBesideIt(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	image, digest := p.ReleaseImage("4.20.33"), published(t, p)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	var o signature.Options
	o.CosignKeys, err = signature.ParseCosignKeys(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	require.NoError(t, err)
	place := strings.TrimSuffix(image, ":4.20.33-x86_64") + ":" + strings.Replace(digest, ":", "-", 1) + ".sig"

	r, _ := verifying(t, p, signature.Require, o)
	_, _, err = r.Resolve(t.Context(), image, pullSecret)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "looked at "+place+": there is none")

	attach(t, place, strings.Repeat(" ", 64<<10+1), "AAAA")
	_, _, err = r.Resolve(t.Context(), image, pullSecret)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require a signed text of at most 65536 bytes, found 65537")

	text := `{"critical":{"identity":{"docker-reference":"quay.io/openshift-release-dev/ocp-release"},"image":{"docker-manifest-digest":"` +
		digest + `"},"type":"cosign container image signature"},"optional":null}`
	sum := sha256.Sum256([]byte(text))
	raw, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	require.NoError(t, err)
	attach(t, place, text, base64.StdEncoding.EncodeToString(raw))
	_, verdict, err := r.Resolve(t.Context(), image, pullSecret)
	require.NoError(t, err)
	require.Regexp(t, `^cosign key [0-9a-f]{64}$`, verdict.SignedBy)
}

// attach stores a signature as cosign does.
func attach(t *testing.T, place, text, signed string) {
	t.Helper()
	image, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer:       static.NewLayer([]byte(text), "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": signed},
	})
	require.NoError(t, err)
	ref, err := name.ParseReference(place, name.Insecure)
	require.NoError(t, err)
	require.NoError(t, remote.Write(ref, image))
}

// A place that does not answer is no verdict: what waits for one tries again.
func TestAnUnreachableStoreIsNoVerdict(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	o := signed(t, published(t, p))
	store, err := signature.ParseStore("http://127.0.0.1:1/release")
	require.NoError(t, err)
	o.Stores = []signature.Store{store}
	r, _ := verifying(t, p, signature.Require, o)
	_, _, err = r.Resolve(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.ErrorIs(t, err, model.ErrUnavailable)
	require.NotErrorIs(t, err, model.ErrUnprocessable)

	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	cancel()
	r, _ = verifying(t, p, signature.Warn, o)
	_, _, err = r.Resolve(ctx, p.ReleaseImage("4.20.33"), pullSecret)
	require.Error(t, err)
}
