package release

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"slipway/internal/model"
)

// found is an image at one of its places.
type found struct {
	v1.Image
	digest string // of what the name leads to: the image, or a list of images for several architectures
}

// read gives an image to use, from the first of its places that delivers it: mirrors, then the source. The error names
// all places that were asked.
func (r *Releases) read(ctx context.Context, doing, image string, pullSecret model.Secret, use func(found) error) error {
	keys, err := newKeychain(pullSecret)
	if err != nil {
		return err
	}
	if _, err := r.parse(image); err != nil {
		return err
	}
	all := places(r.opts.Mirrors, image)
	if len(all) == 0 {
		return model.Unprocessablef("%s %s: the configuration of mirrors blocks this registry and has no mirror for such a name%s",
			doing, image, digestsOnly(r.opts.Mirrors, image))
	}
	var failures []error
	for _, place := range all {
		err := r.readAt(ctx, place, keys, use)
		if err == nil {
			return nil
		}
		failures = append(failures, explain(doing, place, err))
		if ctx.Err() != nil {
			break
		}
	}
	err = joinFailures(failures)
	if hint := digestsOnly(r.opts.Mirrors, image); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

func (r *Releases) readAt(ctx context.Context, place string, keys keychain, use func(found) error) error {
	ref, err := r.parse(place)
	if err != nil {
		return err
	}
	options := r.remoteOptions(ctx, keys)
	described, err := remote.Get(ref, options...)
	if err != nil {
		return err
	}
	f := found{digest: described.Digest.String()}
	if described.MediaType.IsIndex() {
		f.Image, err = r.fromIndex(described)
	} else {
		f.Image, err = described.Image()
	}
	if err != nil {
		return err
	}
	return use(f)
}

// fromIndex returns the image for this machine's architecture; where a list has none, as on a mirror that was filtered, the first one for
// Linux.
func (r *Releases) fromIndex(described *remote.Descriptor) (v1.Image, error) {
	index, err := described.ImageIndex()
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var chosen *v1.Descriptor
	for i, m := range list.Manifests {
		if m.Platform == nil || m.Platform.OS != "linux" {
			continue
		}
		if m.Platform.Architecture == r.opts.Architecture {
			return index.Image(m.Digest)
		}
		if chosen == nil {
			chosen = &list.Manifests[i]
		}
	}
	if chosen == nil {
		return nil, model.Invalidf("the list of images contains no image for Linux")
	}
	return index.Image(chosen.Digest)
}

// joinFailures makes one error for all places that were asked. It can be retried when one of them can: a registry that does not answer. A
// name that does not exist in DNS is no such reason where another place has answered, as in a network without the source.
func joinFailures(failures []error) error {
	if len(failures) == 1 {
		return failures[0]
	}
	var texts []string
	var final, passing error
	for _, err := range failures {
		texts = append(texts, err.Error())
		var dns *net.DNSError
		switch {
		case lasting(err):
			if final == nil {
				final = err
			}
		case errors.As(err, &dns) && dns.IsNotFound:
		case passing == nil:
			passing = err
		}
	}
	text := strings.Join(texts, "; ")
	switch {
	case passing == nil && errors.Is(final, model.ErrNotFound):
		return model.NotFoundf("%s", text)
	case passing == nil && final != nil:
		return model.Unprocessablef("%s", text)
	}
	return fmt.Errorf("%w: %s", ErrRegistry, text)
}

// lasting reports whether another try would end as this one.
func lasting(err error) bool {
	return errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrUnprocessable) || errors.Is(err, model.ErrInvalid)
}

// untrusted reports whether the certificate of a registry was refused.
func untrusted(err error) bool {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// trusting returns the default transport with the connections, proxies and further certificate authorities of the options.
func trusting(o Options) (http.RoundTripper, error) {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport, nil
	}
	transport := standard.Clone()
	if o.Dial != nil {
		transport.DialContext = o.Dial
	}
	if o.Proxy != nil {
		transport.Proxy = o.Proxy
	}
	if len(o.TrustBundles) == 0 {
		return transport, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the certificate authorities of this machine: %w", err)
	}
	for _, bundle := range o.TrustBundles {
		if !pool.AppendCertsFromPEM([]byte(bundle)) {
			return nil, model.Invalidf("certificates to trust registries by: no PEM certificate found")
		}
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}
