package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestTheReleaseOfAClusterIsShownWithItsVerdict(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := ownClusterPath(c.ID) + "/release"
	require.JSONEq(t, `{"image":"quay.io/ocp/release:4.22.9-x86_64"}`, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	_, err := s.store.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.ReleasePullSpec = "quay.io/ocp/release@sha256:1"
		c.ReleaseVerdict = model.ReleaseVerdict{Policy: "require", SignedBy: "OpenPGP key AB"}
		return nil
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"image":"quay.io/ocp/release:4.22.9-x86_64","pull_spec":"quay.io/ocp/release@sha256:1","policy":"require",
		"signed_by":"OpenPGP key AB"}`, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	s.want(http.StatusNotFound, http.MethodGet, ownClusterPath(uuid.New())+"/release", nil)
}
