package release_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// secretFor makes a pull secret with the credentials of a place.
func secretFor(place, user, password string) model.Secret {
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return model.Secret(fmt.Sprintf(`{"auths":{%q:{"auth":%q},"quay.io":{"auth":"eDp5"}}}`, place, auth))
}

func TestInfoTellsWhatAReleaseIsMadeOf(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	for range 2 { // the second time from memory
		info, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
		require.NoError(t, err)
		require.Equal(t, "4.20.33", info.Version)
		require.Equal(t, "amd64", info.Architecture)
		require.Equal(t, p.ReleaseImage("4.20.33"), info.Image)
		require.Regexp(t, `^sha256:[0-9a-f]{64}$`, info.Digest)
		require.Contains(t, info.Components(), "installer")
		for _, component := range []string{"machine-config-operator", "must-gather"} {
			image, err := info.Component(component)
			require.NoError(t, err)
			require.Regexp(t, `^127\.0\.0\.1:\d+/.+@sha256:[0-9a-f]{64}$`, image)
		}
		_, err = info.Component("nothing")
		require.ErrorIs(t, err, model.ErrNotFound)
		info.Images["installer"] = "changed by a caller"
	}
	byDigest, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.NoError(t, err)
	repository, _, _ := strings.Cut(p.ReleaseImage("4.20.33"), ":4.20")
	_, err = r.Info(t.Context(), repository+"@"+byDigest.Digest, pullSecret)
	require.NoError(t, err)
}

func TestInfoUsesThePullSecret(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{User: user, Password: password})
	r, _ := open(t, p, nil)
	image := p.ReleaseImage("4.20.33")
	for name, place := range map[string]string{
		"a registry":        p.Address(),
		"an old address":    "http://" + p.Address() + "/v1/",
		"a repository":      p.Address() + "/openshift-release-dev/ocp-release",
		"an organization":   p.Address() + "/openshift-release-dev",
		"the address alone": p.Address() + "/",
	} {
		t.Run("by the name of "+name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Info(t.Context(), image, secretFor(place, user, password))
			require.NoError(t, err)
		})
	}
	empty := model.Secret(strings.Replace(secretFor(p.Address(), user, password).Reveal(), `"quay.io"`,
		fmt.Sprintf("%q", p.Address()+"/openshift-release-dev")+`:{"auth":""},"quay.io"`, 1))
	for name, secret := range map[string]model.Secret{
		"an empty entry of its own": empty,
		"another password":          secretFor(p.Address(), user, "wrong"),
		"another organization":      secretFor(p.Address()+"/openshift", user, password),
		"no credentials":            pullSecret,
	} {
		t.Run("and fails with "+name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Info(t.Context(), image, secret)
			require.ErrorIs(t, err, model.ErrUnprocessable)
			require.ErrorContains(t, err, "does not accept the pull secret")
		})
	}
}

func TestInfoRefuses(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	info, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.NoError(t, err)
	cli, err := info.Component("cli")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		image  string
		secret model.Secret
		kind   error
		want   string
	}{
		"an image that is not there": {
			p.Address() + "/openshift-release-dev/ocp-release:4.1.0", pullSecret, model.ErrNotFound, "no such image",
		},
		"an image that is no release":   {cli, pullSecret, model.ErrInvalid, "release-manifests/image-references is missing"},
		"a name without a tag":          {p.Address() + "/release", pullSecret, model.ErrInvalid, "require an image with a tag or digest"},
		"a pull secret that is no JSON": {info.Image, "secret-text", model.ErrUnprocessable, "read the pull secret: must be a JSON object"},
		"a pull secret without a colon": {
			info.Image, `{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}`, model.ErrUnprocessable, `auth of "quay.io" must be user:password`,
		},
		"a pull secret without a base64": {
			info.Image, `{"auths":{"quay.io":{"auth":"secret:text"}}}`, model.ErrUnprocessable, `auth of "quay.io" must be base64`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Info(t.Context(), c.image, c.secret)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret-text")
		})
	}
}

func TestInfoTellsOfARegistryThatIsAway(t *testing.T) {
	t.Parallel()
	r, _ := open(t, serve(t, payload.Options{}), func(*release.Options) {})
	_, err := r.Info(t.Context(), "127.0.0.1:1/ocp/release:4.20.33", pullSecret)
	require.ErrorIs(t, err, release.ErrRegistry)
	require.ErrorContains(t, err, "read release image 127.0.0.1:1/ocp/release:4.20.33")
}

func TestInfoNeverUsesPlainHTTPUnasked(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, func(o *release.Options) { o.PlainHTTP = nil })
	_, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.ErrorContains(t, err, "require https for registry "+p.Address())
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := release.Open(t.TempDir(), release.Options{})
	require.ErrorContains(t, err, "require an architecture and a clock")
}
