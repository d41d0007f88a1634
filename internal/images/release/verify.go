package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"slipway/internal/images/release/signature"
	"slipway/internal/model"
)

const (
	// signatureAnnotation of a layer is the signature of its content (sigstore/cosign, specs/SIGNATURE_SPEC.md).
	signatureAnnotation = "dev.cosignproject.cosign/signature"
	// maxPayload bounds what is signed, in bytes, and maxAttached how many signatures are read.
	maxPayload  = 64 << 10
	maxAttached = 10
)

// Resolve reads what a release is now, and verifies its signature as the policy says. Info.PullSpec is the release by its digest: who
// uses it from here on gets this release, wherever its tag leads later. Errors are as for Info; where a signature is required, also a
// model.ErrUnprocessable without a good one and a model.ErrUnavailable when a place to look at did not answer.
func (r *Releases) Resolve(ctx context.Context, image string, pullSecret model.Secret) (Info, model.ReleaseVerdict, error) {
	info, err := r.Info(ctx, image, pullSecret)
	if err != nil {
		return Info{}, model.ReleaseVerdict{}, err
	}
	policy := r.signatures.Policy()
	verdict := model.ReleaseVerdict{Policy: string(policy)}
	if policy == signature.Off {
		return info, verdict, nil
	}
	verdict.SignedBy, err = r.verify(ctx, info, pullSecret)
	if err == nil {
		return info, verdict, nil
	}
	if policy == signature.Require || ctx.Err() != nil {
		return Info{}, model.ReleaseVerdict{}, err
	}
	verdict.Problem = err.Error()
	return info, verdict, nil
}

// verify returns who signed a release.
func (r *Releases) verify(ctx context.Context, info Info, pullSecret model.Secret) (by string, err error) {
	_, digest, _ := strings.Cut(info.PullSpec, "@")
	if by := r.signedBy(digest); by != "" {
		return by, nil
	}
	by, err = r.signatures.Verify(ctx, signature.Image{
		Digest: digest,
		Attached: func(ctx context.Context) ([]signature.Attached, string, error) {
			return r.attached(ctx, info.PullSpec, pullSecret)
		},
	})
	if err != nil {
		return "", fmt.Errorf("verify release %s: %w", info.Image, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.verified) >= keptInfos {
		clear(r.verified)
	}
	r.verified[digest] = by
	return by, nil
}

func (r *Releases) signedBy(digest string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verified[digest]
}

// attached reads the signatures of cosign beside an image that is named by its digest, at the first of its places that has some: they
// are an image too, whose tag is the digest.
func (r *Releases) attached(ctx context.Context, image string, pullSecret model.Secret) (_ []signature.Attached, place string, err error) {
	keys, err := newKeychain(pullSecret)
	if err != nil {
		return nil, image, err
	}
	var failures []error
	var asked []string
	for _, p := range places(r.opts.Mirrors, image) {
		p = strings.Replace(p, "@sha256:", ":sha256-", 1) + ".sig"
		asked = append(asked, p)
		all, err := r.attachedAt(ctx, p, keys)
		if err == nil {
			return all, p, nil
		}
		failures = append(failures, explain("read signatures of", p, err))
	}
	if len(failures) == 0 {
		return nil, image, model.Unprocessablef("the configuration of mirrors blocks this registry")
	}
	return nil, strings.Join(asked, ", "), joinFailures(failures)
}

func (r *Releases) attachedAt(ctx context.Context, place string, keys keychain) ([]signature.Attached, error) {
	ref, err := r.parse(place)
	if err != nil {
		return nil, err
	}
	image, err := remote.Image(ref, r.remoteOptions(ctx, keys)...)
	if err != nil {
		return nil, err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	var all []signature.Attached
	for _, layer := range manifest.Layers {
		text := layer.Annotations[signatureAnnotation]
		if text == "" || len(all) == maxAttached {
			continue
		}
		payload, err := payloadOf(image, layer)
		if err != nil {
			return nil, err
		}
		all = append(all, signature.Attached{Payload: payload, Signature: text})
	}
	return all, nil
}

// payloadOf reads what is signed; the registry client compares its digest.
func payloadOf(image v1.Image, described v1.Descriptor) (_ []byte, err error) {
	if described.Size > maxPayload {
		return nil, model.Unprocessablef("require a signed text of at most %d bytes, found %d", maxPayload, described.Size)
	}
	layer, err := image.LayerByDigest(described.Digest)
	if err != nil {
		return nil, err
	}
	data, err := layer.Compressed() // which it is not: this is the blob as it is stored
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	return io.ReadAll(io.LimitReader(data, maxPayload+1))
}
