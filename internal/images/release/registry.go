package release

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"slipway/internal/cluster/pullsecret"
	"slipway/internal/model"
)

// keychain looks up the credentials of a registry in a pull secret.
type keychain struct{ secret pullsecret.Secret }

// newKeychain parses a pull secret. Its errors never contain a part of it.
func newKeychain(text model.Secret) (keychain, error) {
	secret, err := pullsecret.Parse(text.Reveal())
	if err != nil {
		return keychain{}, model.Unprocessablef("read the pull secret: %s", err)
	}
	return keychain{secret}, nil
}

// Resolve implements authn.Keychain.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	e, _ := k.secret.Find(target.String())
	if e == (pullsecret.Entry{}) {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(authn.AuthConfig{
		Username: e.User, Password: e.Password, IdentityToken: e.IdentityToken, RegistryToken: e.RegistryToken,
	}), nil
}

// plainHTTPGuard refuses unencrypted requests except to registries that are allowed them: the client tries them
// on private addresses, where a pull secret could be overheard.
type plainHTTPGuard struct {
	next    http.RoundTripper
	allowed []string
}

// RoundTrip implements http.RoundTripper.
func (g *plainHTTPGuard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !slices.Contains(g.allowed, r.URL.Host) {
		return nil, fmt.Errorf("require https for registry %s", r.URL.Host)
	}
	return g.next.RoundTrip(r)
}

func (r *Releases) parse(image string) (name.Reference, error) {
	registry, _, _ := strings.Cut(image, "/")
	opts := []name.Option{name.StrictValidation}
	if slices.Contains(r.opts.PlainHTTP, registry) {
		opts = append(opts, name.Insecure)
	}
	ref, err := name.ParseReference(image, opts...)
	if err != nil {
		return nil, model.Invalidf("require an image with a tag or digest, found %q", image)
	}
	return ref, nil
}

func platform(architecture string) v1.Platform {
	return v1.Platform{OS: "linux", Architecture: architecture}
}

// ErrRegistry is the error when a registry cannot be reached, or fails.
var ErrRegistry = errors.New("the registry does not deliver the image")

// explain turns a registry's reply into an error a user can act on.
func explain(doing, image string, err error) error {
	var registryErr *transport.Error
	var network net.Error
	if errors.As(err, &registryErr) {
		switch registryErr.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return model.Unprocessablef("%s %s: the registry does not accept the pull secret (status %d)", doing, image, registryErr.StatusCode)
		case http.StatusNotFound:
			return model.NotFoundf("%s %s: the registry has no such image", doing, image)
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		default:
			if registryErr.StatusCode >= 400 && registryErr.StatusCode < 500 {
				return model.Unprocessablef("%s %s: the registry refuses the request (status %d)", doing, image, registryErr.StatusCode)
			}
		}
	}
	if untrusted(err) {
		return model.Unprocessablef("%s %s: require a certificate that this service trusts, by the authorities of its machine, "+
			"SLIPWAY_MIRROR_CA or SLIPWAY_ROOT_CA: %s", doing, image, err)
	}
	if registryErr != nil || errors.As(err, &network) {
		return fmt.Errorf("%s %s: %w: %w", doing, image, ErrRegistry, err)
	}
	return fmt.Errorf("%s %s: %w", doing, image, err)
}
