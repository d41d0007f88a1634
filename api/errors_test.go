package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

func TestBadRequestBodiesAreRefusedWithRequiredAndFound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	least := `"openshift_version":"4.22","pull_secret":` + quoted(pullSecret)
	for name, call := range map[string]struct {
		method, path, body string
		status             int
		want               []string
	}{
		"an unknown field": {"POST", "/v2/clusters", `{"name":"x","bogus":1,` + least + `}`, 400, []string{"bogus"}},
		"an unknown field below": {
			"PATCH", clusterPath(c.ID), `{"platform":{"type":"none","bogus":1}}`, 400, []string{"platform.bogus"},
		},
		"an unknown field in lists": {
			"PATCH", clusterPath(c.ID), `{"api_vips":[{"ip":"192.0.2.1","bogus":1}]}`, 400, []string{"api_vips.0.bogus"},
		},
		"a field in another case": {"PATCH", clusterPath(c.ID), `{"Name":"x"}`, 400, []string{"Name"}},
		"a missing field": {
			"POST", "/v2/clusters", `{"name":"x","openshift_version":"4.22"}`, 400, []string{"pull_secret is required"},
		},
		"a name that is too long": {
			"POST", "/v2/clusters", `{"name":"` + strings.Repeat("x", 55) + `",` + least + `}`, 400,
			[]string{"name", "at most 54", "found 55"},
		},
		"an empty name": {"POST", "/v2/clusters", `{"name":"",` + least + `}`, 400, []string{"name", "at least 1"}},
		"another type": {
			"PATCH", clusterPath(c.ID), `{"schedulable_masters":"yes"}`, 400, []string{"schedulable_masters", "boolean", `"yes"`},
		},
		"a number out of limits": {
			"PATCH", clusterPath(c.ID), `{"cluster_network_host_prefix":129}`, 400,
			[]string{"cluster_network_host_prefix", "at most 128", "129"},
		},
		"a value outside the set": {
			"PATCH", hostPath(e.ID, h.ID), `{"host_role":"boss"}`, 400,
			[]string{"host_role", "auto-assign, master, arbiter, worker", `"boss"`},
		},
		"an id that is invalid": {
			"POST", "/v2/infra-envs/" + e.ID.String() + "/hosts", `{"host_id":"17"}`, 400, []string{"host_id", "uuid", `"17"`},
		},
		"a zero host id": {
			"POST", "/v2/infra-envs/" + e.ID.String() + "/hosts", `{"host_id":"00000000-0000-0000-0000-000000000000"}`, 400,
			[]string{"host_id"},
		},
		"a pattern that fails": {
			"PATCH", clusterPath(c.ID), `{"api_vips":[{"ip":"nowhere"}]}`, 400, []string{"api_vips.0.ip", `"nowhere"`},
		},
		"broken JSON":          {"PATCH", clusterPath(c.ID), `{"name":`, 400, []string{"valid JSON"}},
		"two values":           {"PATCH", clusterPath(c.ID), `{} {}`, 400, []string{"valid JSON"}},
		"a list for an object": {"PATCH", clusterPath(c.ID), `[]`, 400, []string{"object", "a list"}},
		"no body":              {"PATCH", clusterPath(c.ID), ``, 400, []string{"a JSON body is required"}},
	} {
		got := s.send(call.method, call.path, call.body).Reason(call.status)
		for _, want := range call.want {
			require.Contains(t, got, want, name)
		}
	}
	require.Equal(t, c.Name, s.readCluster(c.ID).Name)
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func TestBodiesOfAnotherKindAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	got := s.send(http.MethodPatch, clusterPath(c.ID), `{"tags":"x"}`, "Content-Type", "text/plain").Reason(http.StatusUnsupportedMediaType)
	require.Contains(t, got, "application/json")
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), strings.NewReader(`{"tags":"x"}`))
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"tags":"x"}`, "Content-Type", "application/json; charset=utf-8")
}

func TestBodiesOverTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	big := `{"tags":"` + strings.Repeat("x", 4<<20) + `"}`
	got := s.send(http.MethodPatch, clusterPath(c.ID), big).Reason(http.StatusRequestEntityTooLarge)
	require.Contains(t, got, "longer than 4194304 bytes")
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	report := `{"step_type":"ntp-synchronizer","step_id":"x","output":"{}","error":"` + strings.Repeat("x", 5<<20) + `"}`
	s.want(http.StatusNoContent, http.MethodPost, hostPath(e.ID, h.ID)+"/instructions", report)
}

func TestAddressesThatAreNoneAreAnsweredInJSON(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Contains(
		t,
		s.send(http.MethodGet, "/v2/clusters/17", nil).Reason(http.StatusBadRequest),
		`cluster_id: require a UUID, found "17"`,
	)
	require.Contains(t, s.send(http.MethodGet, "/v2/events?cluster_id=17", nil).Reason(http.StatusBadRequest), `"17"`)
	require.Contains(
		t,
		s.send(http.MethodGet, clusterPath(uuid.New())+"/downloads/files", nil).Reason(http.StatusBadRequest),
		"file_name",
	)
	require.Contains(t, s.send(http.MethodGet, "/v2/nowhere", nil).Reason(http.StatusNotFound), "/v2/nowhere")
	require.Contains(t, s.send(http.MethodGet, "/v1/clusters", nil).Reason(http.StatusNotFound), "/v1/clusters")
	r := s.send(http.MethodPut, "/v2/clusters", nil)
	require.Contains(t, r.Reason(http.StatusMethodNotAllowed), "PUT")
	require.Equal(t, "GET, HEAD, POST", r.Header.Get("Allow"))
}

func TestRefusedCallersGetTheOtherShapeOfError(t *testing.T) {
	t.Parallel()
	var asked []string
	s := newService(t, func(o *api.Options) {
		o.Authorize = func(_ context.Context, actor admission.Caller, operation string, object admission.Object) error {
			asked = append(asked, actor.Name+" "+operation+" "+object.ClusterID.String())
			if operation == "v2ListClusters" {
				return httpapi.ErrUnauthenticated
			}
			return httpapi.ErrForbidden
		}
	})
	id := uuid.New()
	for path, status := range map[string]int{"/v2/clusters": http.StatusUnauthorized, clusterPath(id): http.StatusForbidden} {
		got := s.want(status, http.MethodGet, path, nil).Object()
		require.EqualValues(t, status, got["code"], "a number, unlike other errors")
		require.NotEmpty(t, got["message"])
	}
	require.ElementsMatch(t, []string{"admin v2ListClusters " + uuid.Nil.String(), "admin v2GetCluster " + id.String()}, asked)
}

func TestFaultsOfTheServiceTellNothingInternalButTheirRequestID(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.orchestrator.panics = true
	r := s.send(http.MethodPost, clusterPath(c.ID)+"/actions/install", nil, "X-Request-Id", "my-request-1")
	got := r.Reason(http.StatusInternalServerError)
	require.Contains(t, got, "my-request-1")
	require.NotContains(t, got, "secret of the implementation")
	require.Equal(t, "my-request-1", r.Header.Get("X-Request-Id"))
	require.Contains(t, s.logged.String(), "my-request-1")
	require.Contains(t, s.logged.String(), "a secret of the implementation")

	s.store.Close()
	r = s.send(http.MethodGet, "/v2/clusters", nil, "X-Request-Id", "not one\tword")
	got = r.Reason(http.StatusInternalServerError)
	require.NotContains(t, got, "pool")
	require.Contains(t, got, r.Header.Get("X-Request-Id"))
	require.NoError(t, uuid.Validate(r.Header.Get("X-Request-Id")), "an id that is no word is replaced")
	require.Contains(t, s.logged.String(), "closed pool")
}

func TestABusyServiceAsksToTryAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.orchestrator.err = model.ErrUnavailable
	r := s.send(http.MethodPost, clusterPath(c.ID)+"/actions/install", nil)
	r.Reason(http.StatusServiceUnavailable)
	require.NotEmpty(t, r.Header.Get("Retry-After"))
}

func TestSecretsAreNotInErrorsOrTheLog(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, secret := range []string{
		"hunter2", `{"auths":{"quay.io":{"auth":"hunter2"}}}`, `{"auths":{"quay.io":{"auth":"aHVudGVyMg=="}}}`,
	} {
		got := s.send(http.MethodPost, "/v2/clusters", wire.ClusterCreateParams{Name: "x", OpenshiftVersion: "4.22", PullSecret: secret}).
			Reason(http.StatusBadRequest)
		require.Contains(t, got, "pull_secret")
		require.NotContains(t, got, "hunter2")
		require.NotContains(t, got, "aHVudGVyMg")
	}
	require.NotContains(t, s.logged.String(), "hunter2")
}
