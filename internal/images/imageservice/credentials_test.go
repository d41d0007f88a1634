package imageservice_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/imageservice"
	"slipway/internal/images/liveisos"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/isotest"
)

func TestImagesOpenWithTheAddressThatIsGivenOut(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	for mode, form := range map[auth.Mode]struct{ parameter, foreign string }{
		auth.ModeLocal:          {"api_key", "/bytoken/"},
		auth.ModeAgentInstaller: {"image_token", "/byapikey/"},
	} {
		l := newLocal(t, mode)
		user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
		images := newImageService(t, l.closed, path, nil)
		e, other := l.infraEnv(), l.infraEnv()
		given := func() (address, token string) {
			got := l.closed.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/image-url", nil, user...).Object()
			address = strings.TrimPrefix(got["url"].(string), "http://service.example:8090")
			return address, strings.Split(address, "/")[2]
		}
		address, token := given()
		byID := "/byid/" + e.ID.String() + "/4.22/x86_64/full.iso"
		long := "/images/" + e.ID.String() + "?version=4.22&type=full-iso"
		want := images.get(address)
		require.Equal(t, http.StatusOK, want.Status, "%s: %s", mode, want.Body)
		for _, opened := range []string{
			long + "&" + form.parameter + "=" + token, byID + "?" + form.parameter + "=" + token,
			strings.Replace(address, "full.iso", "minimal.iso", 1),
			"/images/" + e.ID.String() + "/pxe-initrd?version=4.22&" + form.parameter + "=" + token,
		} {
			require.Equal(t, http.StatusOK, images.get(opened).Status, "%s %s", mode, opened)
		}
		require.Equal(t, http.StatusOK, images.get(byID, user...).Status, "users open all")

		require.Contains(
			t,
			images.get(byID).Message(http.StatusUnauthorized),
			"a credential in",
			"although others have it in the cache",
		)
		images.get(long + "&" + form.parameter + "=" + token + "x").Message(http.StatusUnauthorized)
		foreign := images.get("/images/" + other.ID.String() + "?version=4.22&type=full-iso&" + form.parameter + "=" + token)
		require.Equal(t, http.StatusNotFound, foreign.Status, "%s", foreign.Body)
		images.get(form.foreign + token + "/4.22/x86_64/full.iso").Message(http.StatusUnauthorized)
		images.get("/byapikey/x.y.z/4.22/x86_64/full.iso").Message(http.StatusUnauthorized)
		require.Contains(
			t,
			images.get("/bytoken/nothing/4.22/x86_64/full.iso").Message(http.StatusUnauthorized),
			"the token in the address names no infra-env",
		)
		// The path and the query win over the header.
		images.get(byID+"?"+form.parameter+"=x", user...).Message(http.StatusUnauthorized)

		l.closed.want(http.StatusNoContent, http.MethodPost, envPath(e.ID)+"/regenerate-signing-key", nil, user...)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			require.Equal(t, http.StatusUnauthorized, images.ask(method, address).Status, "rotated")
		}
		address, _ = given()
		require.Equal(t, http.StatusOK, images.get(address).Status)
		require.NotContains(t, l.logged.String(), token)
	}
}

func TestCredentialsOfAddressesAreNotLogged(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	l := newLocal(t, auth.ModeAgentInstaller)
	images := newImageService(t, l.closed, path, func(o *imageservice.Options) {
		o.Log = slog.New(slog.NewJSONHandler(l.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	e := l.infraEnv()
	key, err := l.store.TokenKey(t.Context(), e.ID)
	require.NoError(t, err)
	token, err := auth.ImageToken(key, e.ID, time.Now().Add(time.Hour))
	require.NoError(t, err)
	for address, status := range map[string]int{
		"/bytoken/" + token + "/4.22/x86_64/full.iso":                               http.StatusOK,
		"/bytoken//" + token + "/4.22/x86_64/full.iso":                              http.StatusOK,
		"//bytoken/" + token + "//4.22/x86_64/full.iso":                             http.StatusOK,
		"/bytoken/%2F" + token + "/4.22/x86_64/full.iso":                            http.StatusOK,
		"/bytoken/" + token + "/4.22/x86_64/other.iso":                              http.StatusNotFound,
		"/bytoken/" + token + "/4.22/x86_64":                                        http.StatusNotFound,
		"/bytoken/" + token:                                                         http.StatusNotFound,
		"/byapikey/" + token:                                                        http.StatusNotFound,
		"/byid/" + e.ID.String() + "/4.22/x86_64/full.iso?image_token=" + token:     http.StatusOK,
		"/images/" + e.ID.String() + "/pxe-initrd?image_token=" + token:             http.StatusBadRequest,
		"/images/" + e.ID.String() + "/nothing?version=4.22&api_key=" + token:       http.StatusNotFound,
		"/images/" + e.ID.String() + "?version=4.22&type=full-iso&api_key=" + token: http.StatusUnauthorized,
	} {
		require.Equal(t, status, images.get(address).Status, address)
	}
	for line := range strings.Lines(l.logged.String()) {
		require.NotContains(t, line, token)
	}
}

func TestAddressesOfImagesEnd(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	l := newLocal(t, auth.ModeAgentInstaller)
	images := newImageService(t, l.closed, path, nil)
	e := l.infraEnv()
	key, err := l.store.TokenKey(t.Context(), e.ID)
	require.NoError(t, err)
	for expires, status := range map[time.Duration]int{time.Hour: http.StatusOK, -time.Minute: http.StatusUnauthorized} {
		token, err := auth.ImageToken(key, e.ID, time.Now().Add(expires))
		require.NoError(t, err)
		require.Equal(t, status, images.get("/bytoken/"+token+"/4.22/x86_64/full.iso").Status)
	}
	forged, err := auth.ImageToken(model.Secret("another key"), e.ID, time.Now().Add(time.Hour))
	require.NoError(t, err)
	images.get("/bytoken/" + forged + "/4.22/x86_64/full.iso").Message(http.StatusUnauthorized)
}

// TestImagesAskTheAPIOfTheirProcess has no network between the two.
func TestImagesAskTheAPIOfTheirProcess(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	var options api.Options
	s := newService(t, func(o *api.Options) { options = *o })
	images := newImageService(
		t,
		s,
		path,
		func(o *imageservice.Options) { o.API, o.APIURL = imageservice.InProcess(api.NewServer(options)), "" },
	)
	e := s.infraEnv()
	got := images.get("/byid/" + e.ID.String() + "/4.22/x86_64/minimal.iso")
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
	require.Equal(
		t,
		http.StatusNotModified,
		images.get("/byid/"+e.ID.String()+"/4.22/x86_64/minimal.iso", "If-None-Match", got.Header.Get("ETag")).Status,
	)
	images.get("/byid/" + uuid.NewString() + "/4.22/x86_64/minimal.iso").Reason(http.StatusNotFound)
}

// Finding A9 of the second security review: images that are not here were looked for, and downloaded, before the credential was checked.
func TestImagesAreDownloadedForNobodyWithoutACredential(t *testing.T) {
	t.Parallel()
	path, _ := liveISO(t, isotest.Options{})
	l := newLocal(t, auth.ModeLocal)
	var store *liveisos.Store
	images := newImageService(t, l.closed, path, func(o *imageservice.Options) {
		list := openshift.OSImages{{OpenShiftVersion: "4.22.9", CPUArchitecture: "ppc64le", Version: "9.6", URL: "http://mirror.invalid/a.iso"}}
		var err error
		store, err = liveisos.Open(liveisos.Options{
			Folder: t.TempDir(), Images: list, OnDemand: true, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		require.NoError(t, err)
		o.Images = store
	})
	e := l.infraEnv()
	for _, artifact := range []string{"rootfs", "kernel", "ins-file"} {
		require.Equal(t, http.StatusServiceUnavailable, images.get("/boot-artifacts/"+artifact+"?version=4.22.9&arch=ppc64le").Status, artifact)
	}
	missing := "/byid/" + e.ID.String() + "/4.22.9/ppc64le/full.iso"
	images.get(missing).Message(http.StatusUnauthorized)
	images.get("/images/" + e.ID.String() + "/pxe-initrd?version=4.22.9&arch=ppc64le").Message(http.StatusUnauthorized)
	require.Equal(t, liveisos.StateOnDemand, store.Status()[0].State)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
	require.NotContains(t, []int{http.StatusOK, http.StatusUnauthorized}, images.get(missing, user...).Status, "a user waits for it")
	require.Equal(t, liveisos.StateWaiting, store.Status()[0].State)
}
