package release_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/httpclient"
)

// source is a registry that no machine reaches: .invalid is never in DNS (RFC 6761, 6.4).
const source = "source.invalid"

// mirror is a registry with TLS, by an authority of its own, that holds releases below /ocp.
type mirror struct {
	*httptest.Server
	host string
	// authority is its certificate in PEM.
	authority string

	mu    sync.Mutex
	asked []string // paths
}

// newMirror serves what p has, under the names of a mirror.
func newMirror(t *testing.T, p *payload.Payload) *mirror {
	t.Helper()
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.Address()})
	m := &mirror{}
	m.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.asked = append(m.asked, r.URL.Path)
		m.mu.Unlock()
		path, ok := strings.CutPrefix(r.URL.Path, "/v2/ocp/")
		if ok {
			r.URL.Path = "/v2/openshift-release-dev/" + path
		} else if r.URL.Path != "/v2/" {
			http.NotFound(w, r)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	m.host = strings.TrimPrefix(m.URL, "https://")
	m.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw}))
	return m
}

// paths lists what was asked of the mirror.
func (m *mirror) paths() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.asked, "\n")
}

// openMirrored returns releases that read with a registries.conf.
func openMirrored(t *testing.T, conf string, bundles ...string) *release.Releases {
	t.Helper()
	mirrors, err := release.ParseMirrors(conf)
	require.NoError(t, err)
	r, _ := open(t, &payload.Payload{}, func(o *release.Options) { o.Mirrors, o.TrustBundles = mirrors, bundles })
	return r
}

// registry returns an entry of a registries.conf.
func registry(prefix, more string, mirrors ...string) string {
	text := fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %[1]q\n%s\n", prefix, more)
	for _, location := range mirrors {
		text += fmt.Sprintf("[[registry.mirror]]\nlocation = %q\n", location)
	}
	return text
}

const development = source + "/openshift-release-dev"

func TestReleasesAreReadFromTheirMirrors(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Name: source, User: user, Password: password})
	m := newMirror(t, p)
	secret := model.Secret(fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, m.host, base64.StdEncoding.EncodeToString([]byte(user+":"+password))))
	conf := registry(source, "", "127.0.0.1:1/nothing") + registry(development, "", m.host+"/empty", m.host+"/ocp")
	r := openMirrored(t, conf, m.authority)
	i, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "baremetal", PullSecret: secret})
	require.NoError(t, err)
	defer i.Close()
	out, err := i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 1)})
	require.NoError(t, err)
	require.Equal(t, development+"/ocp-release@"+i.Release.Digest, bootstrapFile(t, out.Bootstrap, "/opt/openshift/release-image"),
		"mirrors of the cluster are for digests only")
	require.Contains(t, m.paths(), "/v2/empty/ocp-release/manifests/4.20.33-x86_64", "in the order of the file")
	require.Contains(t, m.paths(), "/v2/ocp/ocp-v4.0-art-dev/manifests/sha256:")
}

func TestTheSourceIsAskedLast(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	m := newMirror(t, p)
	conf := registry(m.host+"/ocp", "", m.host+"/empty")
	r := openMirrored(t, conf, m.authority)
	image := m.host + "/ocp/ocp-release:4.20.33-x86_64"
	info, err := r.Info(t.Context(), image, pullSecret)
	require.NoError(t, err)
	require.Equal(t, image, info.Image)
	require.Less(t, strings.Index(m.paths(), "/v2/empty/"), strings.Index(m.paths(), "/v2/ocp/"))
}

func TestMirrorsForDigestsAreNotAskedForTags(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Name: source})
	m := newMirror(t, p)
	for _, conf := range []string{
		registry(development, "mirror-by-digest-only = true", m.host+"/ocp"),
		registry(development, "", m.host+"/ocp") + "pull-from-mirror = \"digest-only\"\n",
	} {
		r := openMirrored(t, conf, m.authority)
		_, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
		require.ErrorIs(t, err, release.ErrRegistry)
		require.ErrorContains(t, err, m.host+"/ocp was not asked, because the registries.conf has it for digests only")
		require.ErrorContains(t, err, "RELEASE_IMAGES")
		require.Empty(t, m.paths())
	}
	r := openMirrored(t, registry(development, "blocked = true\nmirror-by-digest-only = true", m.host+"/ocp"), m.authority)
	_, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "blocks this registry")
	require.ErrorContains(t, err, "for digests only")
	r = openMirrored(t, registry(development, "mirror-by-digest-only = true", m.host+"/ocp"), m.authority)
	byDigest := development + "/ocp-release@" + digestOf(t, p)
	info, err := r.Info(t.Context(), byDigest, pullSecret)
	require.NoError(t, err)
	require.Equal(t, byDigest, info.PullSpec, "as hosts and the cluster pull it")
}

// digestOf returns the digest of a release, as its own registry has it.
func digestOf(t *testing.T, p *payload.Payload) string {
	t.Helper()
	m := newMirror(t, p)
	r := openMirrored(t, registry(development, "", m.host+"/ocp"), m.authority)
	info, err := r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
	require.NoError(t, err)
	return info.Digest
}

func TestMirrorsThatDoNotHelp(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Name: source})
	m := newMirror(t, p)
	for name, c := range map[string]struct {
		conf    string
		bundles []string
		kind    error
		want    []string
	}{
		"a certificate of an authority that is not trusted": {
			registry(development, "", m.host+"/ocp"), nil, model.ErrUnprocessable,
			[]string{"require a certificate that this service trusts", "SLIPWAY_MIRROR_CA", m.host + "/ocp/ocp-release"},
		},
		"a mirror that is away": {
			registry(development, "", "127.0.0.1:1/ocp"), nil, release.ErrRegistry, []string{"127.0.0.1:1/ocp", development},
		},
		"another registry of the domain": {
			registry("*.source.invalid", "", m.host+"/ocp"), []string{m.authority}, release.ErrRegistry, []string{development},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openMirrored(t, c.conf, c.bundles...).Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
			require.ErrorIs(t, err, c.kind)
			for _, text := range c.want {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// In a network without the source, what a mirror lacks does not appear by trying again; a mirror that is away does.
func TestNamesThatDoNotExistAreNoReasonToTryAgain(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Name: source})
	m := newMirror(t, p)
	for name, c := range map[string]struct {
		location string
		kind     error
		want     string
	}{
		"a mirror without the image": {
			m.host + "/empty", model.ErrNotFound, "/empty/ocp-release:4.20.33-x86_64: the registry has no such image; ",
		},
		"a mirror that is away":   {"127.0.0.1:1/ocp", release.ErrRegistry, "127.0.0.1:1/ocp"},
		"a mirror without a name": {source + "/ocp", release.ErrRegistry, "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirrors, err := release.ParseMirrors(registry(development, "", c.location))
			require.NoError(t, err)
			r, _ := open(t, p, func(o *release.Options) {
				o.Mirrors = mirrors
				o.Transport = transportFunc(func(q *http.Request) (*http.Response, error) {
					if q.URL.Host == source {
						return nil, &net.DNSError{Err: "no such host", Name: source, IsNotFound: true}
					}
					return m.Client().Transport.RoundTrip(q)
				})
			})
			_, err = r.Info(t.Context(), p.ReleaseImage("4.20.33"), pullSecret)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, development)
		})
	}
}

func TestRegistriesOfADomainHaveMirrors(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Name: "quay." + source})
	m := newMirror(t, p)
	conf := fmt.Sprintf("[[registry]]\nprefix = \"*.%s\"\n[[registry.mirror]]\nlocation = %q\n", source, m.host)
	r := openMirrored(t, conf, m.authority)
	_, err := r.Info(t.Context(), "quay."+source+"/ocp/ocp-release:4.20.33-x86_64", pullSecret)
	require.NoError(t, err)
}

func TestMirrorsAreRead(t *testing.T) {
	t.Parallel()
	mirrors, err := release.ParseMirrors(`unqualified-search-registries = []
[[registry]]
prefix = "a.example.com/b"
location = "c.example.com/d"
[[registry.mirror]]
location = "one.example.com/e/"
[[registry.mirror]]
location = "two.example.com"
pull-from-mirror = "tag-only"
`)
	require.NoError(t, err)
	require.Equal(t, []release.Mirror{{
		Prefix: "a.example.com/b", Location: "c.example.com/d", Locations: []release.MirrorLocation{
			{Location: "one.example.com/e", Tags: true, Digests: true}, {Location: "two.example.com", Tags: true},
		},
	}}, mirrors)
	mirrors, err = release.ParseMirrors(registry("quay.io/ocp/", "", "m.example/e//"))
	require.NoError(t, err)
	require.Equal(t, []string{"m.example/e/release:4.20"}, release.Options{Mirrors: mirrors}.Mirrored("quay.io/ocp/release:4.20"))
	_, err = release.ParseMirrors("[[registry")
	require.ErrorIs(t, err, model.ErrInvalid)
	_, err = release.Open(t.TempDir(), release.Options{Architecture: "amd64", Now: nil})
	require.Error(t, err)
}

// An index that was filtered to another architecture leads to that one; its artifacts have a program for this machine.
func TestFilteredIndexesAreRead(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{Architecture: "arm64", HostArchitecture: "amd64"})
	manifests := "http://" + p.Address() + "/v2/openshift-release-dev/ocp-release/manifests/"
	response, err := httpclient.New(t).Get(manifests + "4.20.33-aarch64")
	require.NoError(t, err)
	manifest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	index := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[`+
		`{"mediaType":%q,"size":%d,"digest":%q,"platform":{"os":"linux","architecture":"arm64"}}]}`,
		response.Header.Get("Content-Type"), len(manifest), response.Header.Get("Docker-Content-Digest"))
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, manifests+"list", strings.NewReader(index))
	require.NoError(t, err)
	put.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
	response, err = httpclient.New(t).Do(put)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusCreated, response.StatusCode)
	r, dir := open(t, p, nil)
	image := p.Address() + "/openshift-release-dev/ocp-release:list"
	i, err := r.Installer(t.Context(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
	require.NoError(t, err)
	defer i.Close()
	require.Equal(t, "arm64", i.Release.Architecture)
	require.Contains(t, programs(t, dir)[0], "linux_amd64")
}

func TestMirroredNamesAnImageAtEachMirror(t *testing.T) {
	t.Parallel()
	mirrors, err := release.ParseMirrors(
		registry("quay.io/ocp/release", "mirror-by-digest-only = true", "m.example:5000/ocp/release", "n.example/r") +
			registry("*.example.org", "", "m.example:5000/org"))
	require.NoError(t, err)
	o := release.Options{Mirrors: mirrors}
	for image, want := range map[string][]string{
		"quay.io/ocp/release:4.20":        {"m.example:5000/ocp/release:4.20", "n.example/r:4.20"},
		"quay.io/ocp/release@sha256:0123": {"m.example:5000/ocp/release@sha256:0123", "n.example/r@sha256:0123"},
		"a.example.org/ocp:4.20":          {"m.example:5000/org/ocp:4.20"},
		"quay.io/ocp/release-dev:4.20":    nil,
		"quay.io/ocp":                     nil,
	} {
		require.Equal(t, want, o.Mirrored(image), image)
	}
}
