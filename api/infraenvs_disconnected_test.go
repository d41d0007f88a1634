package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/images/release"
	"slipway/internal/model"
)

// countingInstaller makes another config each time, as the real one does.
type countingInstaller struct {
	mu   sync.Mutex
	runs []string // names of clusters
	err  error
}

func (i *countingInstaller) Unconfigured(_ context.Context, c *model.Cluster, _ *model.InfraEnv) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.runs = append(i.runs, c.Name+" "+c.ReleaseImage)
	config := fmt.Sprintf(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/run-%d"}]}}`, len(i.runs))
	return []byte(config), i.err
}

func TestDisconnectedImageGetsTheConfigOfTheInstaller(t *testing.T) {
	t.Parallel()
	installer := &countingInstaller{}
	s := newService(t, withKeys, func(o *api.Options) { o.Disconnected = installer })
	c := s.want(
		http.StatusCreated, http.MethodPost, "/v2/clusters/disconnected", map[string]any{"name": "far", "openshift_version": "4.22"},
	).
		Object()
	body := map[string]any{
		"name":          "env",
		"pull_secret":   pullSecret,
		"image_type":    "disconnected-iso",
		"cluster_id":    c["id"],
		"rendezvous_ip": "192.0.2.7",
	}
	created := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).Object()
	require.Regexp(t, `/4\.22\.9/x86_64/disconnected\.iso$`, created["download_url"])
	id := uuid.MustParse(created["id"].(string))
	path := envPath(id) + "/downloads/files?file_name=discovery.ign"

	first := s.want(http.StatusOK, http.MethodGet, path, nil)
	require.Contains(t, string(first.Body), `"/run-1"`)
	require.Contains(t, string(first.Body), "/etc/assisted/interactive-ui")
	require.NotContains(t, string(first.Body), "slipway-agent", "its agent is the installer's")
	again := s.want(http.StatusOK, http.MethodGet, path+"&discovery_iso_type=disconnected-iso", nil)
	require.Equal(t, first.Body, again.Body, "made once")
	tag := first.Header.Get("Etag")
	require.NotEmpty(t, tag)
	require.Equal(t, tag, again.Header.Get("Etag"))
	s.want(http.StatusNotModified, http.MethodGet, path, nil, "If-None-Match", tag)
	require.Equal(t, []string{"far quay.io/ocp/release:4.22.9-x86_64"}, installer.runs)
	require.Contains(t, string(s.want(http.StatusOK, http.MethodGet, path+"&discovery_iso_type=full-iso", nil).Body), "slipway-agent")

	override := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/mine"}]}}`
	s.want(http.StatusCreated, http.MethodPatch, envPath(id), map[string]any{"ignition_config_override": override})
	changed := s.want(http.StatusOK, http.MethodGet, path, nil, "If-None-Match", tag)
	require.Contains(t, string(changed.Body), `"/run-2"`)
	require.Contains(t, string(changed.Body), `"/mine"`)
}

func TestDisconnectedImageOfNoReleaseIsRefused(t *testing.T) {
	t.Parallel()
	installer := &countingInstaller{}
	s := newService(t, func(o *api.Options) { o.Disconnected = installer })
	e := s.infraEnv(uuid.Nil)
	path := envPath(e.ID) + "/downloads/files?file_name=discovery.ign&discovery_iso_type=disconnected-iso"
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), `{"image_type":"disconnected-iso"}`).Reason(http.StatusBadRequest),
		"disconnected-iso requires an InfraEnv of a cluster",
	)
	require.Contains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusConflict), "a cluster is required")
	require.Empty(t, installer.runs)

	e = s.infraEnv(s.cluster(nil).ID)
	path = envPath(e.ID) + "/downloads/files?file_name=discovery.ign&discovery_iso_type=disconnected-iso"
	installer.err = fmt.Errorf(
		"make it: %w",
		&release.GenerateError{Command: "agent create unconfigured-ignition", ExitCode: 1, Log: "no such command"},
	)
	require.Contains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusConflict), "no such command")
	installer.err = model.NotFoundf("no such image")
	require.Contains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusConflict), "no such image")
	installer.err = fmt.Errorf("read it: %w: no such host", release.ErrRegistry)
	require.Contains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusConflict), "no such host")
	installer.err = errors.New("a secret of the implementation")
	require.NotContains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusInternalServerError), "secret of")
	installer.err = nil
	s.want(http.StatusOK, http.MethodGet, path, nil)

	closed := newService(t)
	e = closed.infraEnv(closed.cluster(nil).ID)
	require.Contains(
		t,
		closed.send(http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=discovery.ign&discovery_iso_type=disconnected-iso", nil).
			Reason(http.StatusConflict),
		"runs no installers",
	)
}

// A disconnected image contains its own service.
func TestDisconnectedImageTakesNoHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	known, stray := map[string]any{"host_id": uuid.New()}, map[string]any{"host_id": uuid.New()}
	path := envPath(e.ID) + "/hosts"
	s.want(http.StatusCreated, http.MethodPost, path, known)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"image_type":"disconnected-iso"}`)
	require.Contains(
		t,
		s.send(http.MethodPost, path, stray).Reason(http.StatusBadRequest),
		"require image_type full-iso or minimal-iso, found disconnected-iso",
	)
	s.want(http.StatusCreated, http.MethodPost, path, known) // it came when the image was another
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"image_type":"full-iso"}`)
	s.want(http.StatusCreated, http.MethodPost, path, stray)
}
