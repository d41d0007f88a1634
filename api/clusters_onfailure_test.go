package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestFailurePolicyIsKeptWithItsCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := ownClusterPath(c.ID) + "/on-failure"
	require.JSONEq(t, `{"on_failure":"default"}`, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	for shown, policy := range map[string]model.FailurePolicy{"fail": "fail", "wait": "wait", "default": ""} {
		sent := `{"on_failure":"` + shown + `"}`
		require.JSONEq(t, sent, string(s.want(http.StatusOK, http.MethodPut, path, sent).Body))
		require.JSONEq(t, sent, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
		kept, err := s.store.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, policy, kept.OnFailure)
	}
	for sent, want := range map[string]string{
		`{"on_failure":"stop"}`: `on_failure: require one of default, wait, fail, found "stop"`,
		``:                      "a JSON body is required",
		`{"on_failure":1}`:      "on_failure",
	} {
		require.Contains(t, s.send(http.MethodPut, path, sent).Reason(http.StatusBadRequest), want)
	}
}
