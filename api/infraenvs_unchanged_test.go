package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
)

// signingKey makes all processes of a test belong to the same service.
var signingKey = []byte("0123456789abcdef0123456789abcdef")

func withKeys(o *api.Options) { o.SigningKey = signingKey }

func TestFilesThatAClientHasAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, withKeys)
	e := s.infraEnv(uuid.Nil)
	s.setStatic(e.ID)
	for _, path := range []string{
		"/downloads/files?file_name=discovery.ign", "/downloads/files?file_name=discovery.ign&discovery_iso_type=minimal-iso",
		"/downloads/files?file_name=static-network-config", "/downloads/minimal-initrd",
	} {
		path = envPath(e.ID) + path
		first := s.want(http.StatusOK, http.MethodGet, path, nil)
		tag := first.Header.Get("Etag")
		require.Regexp(t, `^"[\w-]{20,}"$`, tag, "a strong tag")
		for _, headers := range [][]string{
			{"If-None-Match", tag},
			{"If-None-Match", `"other", W/` + tag},
			{"If-None-Match", "*"},
			{"If-None-Match", tag, "If-Modified-Since", "Mon, 02 Jan 2006 15:04:05 GMT"},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				r := s.want(http.StatusNotModified, method, path, nil, headers...)
				require.Empty(t, r.Body)
				require.Equal(t, tag, r.Header.Get("Etag"))
				require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
				require.Empty(t, r.Header.Get("Content-Type"))
			}
		}
		other := s.want(
			http.StatusOK,
			http.MethodGet,
			path,
			nil,
			"If-None-Match",
			`"other"`,
			"If-Modified-Since",
			time.Now().Add(time.Hour).UTC().Format(http.TimeFormat),
		)
		require.Equal(t, first.Body, other.Body, "the tag decides, not the date")
		require.Equal(t, tag, other.Header.Get("Etag"))
	}
}

func TestFileThatAClientHasIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	_, err := s.store.UpdateInfraEnv(t.Context(), e.ID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.IgnitionConfigOverride, e.StaticNetworkConfig = "{", "{" // nothing can be made of these
		return nil
	})
	require.NoError(t, err)
	for _, path := range []string{
		"/downloads/files?file_name=discovery.ign", "/downloads/files?file_name=static-network-config", "/downloads/minimal-initrd",
	} {
		s.send(http.MethodGet, envPath(e.ID)+path, nil).Reason(http.StatusConflict)
		s.want(http.StatusNotModified, http.MethodGet, envPath(e.ID)+path, nil, "If-None-Match", "*")
	}
}

func TestDateOfAFileTellsAClientThatHasIt(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(time.Minute)
	s := newService(t, withKeys, func(o *api.Options) { o.Now = func() time.Time { return now } })
	e := s.infraEnv(uuid.Nil)
	path := envPath(e.ID) + "/downloads/files?file_name=discovery.ign"
	fresh := s.want(http.StatusOK, http.MethodGet, path, nil).Header.Get("Last-Modified")
	now = now.Add(2 * time.Second)
	s.want(http.StatusOK, http.MethodGet, path, nil, "If-Modified-Since", fresh) // the InfraEnv could have changed in that second again
	date := s.want(http.StatusOK, http.MethodGet, path, nil).Header.Get("Last-Modified")
	require.NotEqual(t, fresh, date)
	s.want(http.StatusNotModified, http.MethodGet, path, nil, "If-Modified-Since", date)
	s.want(http.StatusOK, http.MethodGet, path, nil, "If-Modified-Since", "yesterday")
	later := now.Add(time.Hour).UTC().Format(http.TimeFormat)
	s.want(http.StatusOK, http.MethodGet, path, nil, "If-Modified-Since", later) // it is of a time when the clock was wrong
}

// openWithTokens takes any caller, and makes the images of a service that does not.
type openWithTokens struct {
	auth.None
	tokens *auth.Local
}

func (i openWithTokens) AgentToken(e *model.InfraEnv) (auth.AgentToken, error) {
	return i.tokens.AgentToken(e)
}

func TestImagesOfTheNextDayRegisterADayLonger(t *testing.T) {
	t.Parallel()
	now := time.Date(2126, 1, 1, 12, 0, 0, 0, time.UTC)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, public := keyPair(t, key)
	clock := func() time.Time { return now }
	tokens, err := auth.NewLocal(auth.LocalOptions{
		Mode: auth.ModeLocal, Now: clock, ImageTokenLife: 48 * time.Hour, PrivateKey: model.Secret(private), PublicKey: public,
	})
	require.NoError(t, err)
	s := newService(t, withKeys, func(o *api.Options) { o.Now, o.Identity = clock, openWithTokens{tokens: tokens} })
	e := s.infraEnv(uuid.Nil)
	path := envPath(e.ID) + "/downloads/files?file_name=discovery.ign"
	first := s.want(http.StatusOK, http.MethodGet, path, nil)
	now = now.Add(12*time.Hour - time.Second)
	s.want(http.StatusNotModified, http.MethodGet, path, nil, "If-None-Match", first.Header.Get("Etag"))
	now = now.Add(time.Second)
	second := s.want(http.StatusOK, http.MethodGet, path, nil, "If-None-Match", first.Header.Get("Etag"))
	require.NotEqual(t, string(first.Body), string(second.Body))
	now = now.Add(time.Second)
	s.want(http.StatusOK, http.MethodGet, path, nil, "If-Modified-Since", first.Header.Get("Last-Modified"))

	boot := s.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/infra-envs/"+e.ID.String()+"/boot-artifacts", nil)
	require.Contains(t, string(boot.Body), `"image_token_expires_at":"2126-01-05T00:00:00.000Z"`)
}

func TestTagChangesWithAllThatAnImageIsMadeOf(t *testing.T) {
	t.Parallel()
	agents := fstest.MapFS{"slipway-agent-x86_64": {Data: []byte("agent program"), ModTime: time.Unix(1, 0)}}
	var programKey atomic.Value
	programKey.Store("first")
	s := newService(t, withKeys, func(o *api.Options) {
		o.AgentBinaries = agents
		o.ProgramKey = func() string { return programKey.Load().(string) }
	})
	e := s.infraEnv(uuid.Nil)
	path := envPath(e.ID) + "/downloads/files?file_name=discovery.ign"
	seen := map[string]string{}
	tag := func() string { return s.want(http.StatusOK, http.MethodGet, path, nil).Header.Get("Etag") }
	for _, body := range []string{
		`{}`, `{"proxy":{"http_proxy":"http://proxy.example:3128"}}`, `{"additional_ntp_sources":"a.example"}`,
		`{"ssh_authorized_key":"` + sshKey + `"}`,
		`{"ignition_config_override":"{\"ignition\":{\"version\":\"3.1.0\"}}"}`, `{"static_network_config":[` + staticHost + `]}`,
		`{"kernel_arguments":[{"operation":"append","value":"a=b"}]}`, `{"network_discovery_delay_seconds":3}`,
		`{"openshift_version":"4.16.68"}`,
		`{"pull_secret":"{\"auths\":{\"cloud.openshift.com\":{\"auth\":\"dXNlcjpvdGhlcgo=\"}}}"}`, `{"image_type":"minimal-iso"}`,
	} {
		s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), body)
		got := tag()
		require.NotContains(t, seen, got, body)
		seen[got] = body
	}
	last := tag()
	agents["slipway-agent-x86_64"] = &fstest.MapFile{Data: []byte("another program"), ModTime: time.Unix(2, 0)}
	require.NotEqual(t, last, tag(), "another agent")
	last = tag()
	programKey.Store("second")
	require.NotEqual(t, last, tag(), "another key of programs")

	last = tag()
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{}`)
	require.Equal(t, last, tag(), "nothing but the date was changed")
	s.want(http.StatusNoContent, http.MethodPost, envPath(e.ID)+"/regenerate-signing-key", nil)
	require.NotEqual(t, last, tag(), "the token in the image is another")
	s.want(http.StatusNotModified, http.MethodGet, path, nil, "If-None-Match", tag())
}

// Image servers keep the file of a minimal image for as long as its tag is the same.
func TestTagOfAMinimalImagesFileChangesWithItsSettings(t *testing.T) {
	t.Parallel()
	s := newService(t, withKeys)
	e := s.infraEnv(uuid.Nil)
	s.setStatic(e.ID)
	path := envPath(e.ID) + "/downloads/minimal-initrd"
	before := s.want(http.StatusOK, http.MethodGet, path, nil).Header.Get("Etag")
	for _, body := range []string{
		`{"network_discovery_delay_seconds":60}`, `{"network_discovery_delay_seconds":90}`,
		`{"proxy":{"http_proxy":"http://proxy.example:3128"}}`, `{"proxy":{"http_proxy":"http://proxy.example:3128","no_proxy":"a.example"}}`,
		`{"openshift_version":"4.16.68"}`, `{"static_network_config":[]}`,
	} {
		s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), body)
		after := s.want(http.StatusOK, http.MethodGet, path, nil, "If-None-Match", before).Header.Get("Etag")
		require.NotEqual(t, before, after, body)
		before = after
	}
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"ssh_authorized_key":"`+sshKey+`"}`)
	s.want(http.StatusNotModified, http.MethodGet, path, nil, "If-None-Match", before)
}

func TestConfigIsTheSameEachTimeAndInEveryProcess(t *testing.T) {
	t.Parallel()
	var options api.Options
	s := newService(t, withKeys, func(o *api.Options) { options = *o })
	e := s.infraEnv(uuid.Nil)
	s.setStatic(e.ID)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{
		"proxy": map[string]any{"http_proxy": "http://p.example", "no_proxy": "a.example,b.example"}, "ntp_sources": "c.example,d.example",
		"ignition_config_override": "variant: fcos\nversion: 1.4.0\nstorage: {files: [{path: /a, contents: {inline: x}}, {path: " +
			"/b}]}\nsystemd: {units: [{name: a.service}, {name: b.service}]}\n",
	})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, public := keyPair(t, key)
	files, tags := map[string]string{}, map[string]string{}
	for range 3 { // processes
		options.Identity, err = auth.NewLocal(auth.LocalOptions{
			Mode: auth.ModeLocal, Now: time.Now, TokenKey: s.store.TokenKey, AgentTokens: auth.PerInfraEnv,
			PrivateKey: model.Secret(private), PublicKey: public,
		})
		require.NoError(t, err)
		row := must(s.store.InfraEnv(t.Context(), e.ID))
		token, err := options.Identity.AgentToken(row)
		require.NoError(t, err)
		link, err := options.Identity.ImageLink(row, time.Time{})
		require.NoError(t, err)
		process := &service{t: t, url: serve(t, options)}
		for range 2 {
			for _, file := range []string{
				"/downloads/files?file_name=discovery.ign", "/downloads/minimal-initrd", "/downloads/files?file_name=static-network-config",
			} {
				headers, address := []string{"X-Secret-Key", token.Secret.Reveal()}, file
				if file == "/downloads/minimal-initrd" { // not for agents
					headers = nil
					address = file + "?" + link.Query().Encode()
				}
				r := process.want(http.StatusOK, http.MethodGet, envPath(e.ID)+address, nil, headers...)
				if _, known := files[file]; !known {
					files[file], tags[file] = string(r.Body), r.Header.Get("Etag")
				}
				require.Equal(t, files[file], string(r.Body), file)
				require.Equal(t, tags[file], r.Header.Get("Etag"), file)
			}
		}
	}
	require.Len(t, files, 3)
	require.Contains(t, files["/downloads/files?file_name=discovery.ign"], "PULL_SECRET_TOKEN%3D%22ey", "with the token of an agent")
}

// BenchmarkDiscoveryUnchanged asks as an image server does when it has the config.
func BenchmarkDiscoveryUnchanged(b *testing.B) { benchmarkDiscovery(b, http.StatusNotModified) }

// BenchmarkDiscoveryRendered asks as an image server does first.
func BenchmarkDiscoveryRendered(b *testing.B) { benchmarkDiscovery(b, http.StatusOK) }

func benchmarkDiscovery(b *testing.B, status int) {
	s := newService(b, withKeys)
	e := s.infraEnv(uuid.Nil)
	s.setStatic(e.ID)
	path := envPath(e.ID) + "/downloads/files?file_name=discovery.ign"
	tag := s.want(http.StatusOK, http.MethodGet, path, nil).Header.Get("Etag")
	if status == http.StatusOK {
		tag = `"other"`
	}
	for b.Loop() {
		s.want(status, http.MethodGet, path, nil, "If-None-Match", tag)
	}
}
