package api_test

import (
	"bytes"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

// packed begins every archive of logs: the head of a gzip file.
const packed = "\x1f\x8b\x08"

// form makes a file as agents upload it.
func form(t testing.TB, field, content string) (body io.Reader, kind string) {
	t.Helper()
	return fileForm(t, field, packed+content)
}

// plainForm makes a file as nothing uploads it.
func plainForm(t testing.TB, content string) (body io.Reader, kind string) {
	t.Helper()
	return fileForm(t, "upfile", content)
}

func fileForm(t testing.TB, field, content string) (body io.Reader, kind string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, err := w.CreateFormFile(field, "logs.tar.gz")
	require.NoError(t, err)
	_, err = part.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return &out, w.FormDataContentType()
}

func (s *service) upload(path, content string) reply {
	s.t.Helper()
	body, kind := form(s.t, "upfile", content)
	return s.send(http.MethodPost, path, body, "Content-Type", kind)
}

func TestLogsAreUploadedAndDownloaded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	path := clusterPath(c.ID) + "/logs"
	before := tartest.Files(t, s.want(http.StatusOK, http.MethodGet, path, nil).Body)
	require.ElementsMatch(t, []string{"cluster_metadata.json", "cluster_events.json"}, slices.Collect(maps.Keys(before)))
	require.Equal(
		t,
		http.StatusNoContent,
		s.upload(path+"?logs_type=host&host_id="+h.ID.String()+"&infra_env_id="+e.ID.String(), "old logs of a host").Status,
	)
	require.Equal(t, http.StatusNoContent, s.upload(path+"?logs_type=host&host_id="+h.ID.String(), "logs of a host").Status)
	require.Equal(t, http.StatusNoContent, s.upload(path+"?logs_type=controller", "logs of the controller").Status)
	require.False(t, s.readHost(e.ID, h.ID).LogsCollectedAt.IsZero())
	require.False(t, s.readCluster(c.ID).ControllerLogsCollectedAt.IsZero())

	got := s.want(http.StatusOK, http.MethodGet, path+"?logs_type=host&host_id="+h.ID.String(), nil)
	require.Equal(t, packed+"logs of a host", string(got.Body))
	require.Equal(t, `attachment; filename="prod_auto-assign_master-0.tar.gz"`, got.Header.Get("Content-Disposition"))
	require.Equal(t, packed+"logs of the controller", string(s.want(http.StatusOK, http.MethodGet, path+"?logs_type=controller", nil).Body))
	all := s.want(http.StatusOK, http.MethodGet, path+"?logs_type=all", nil)
	files := tartest.Files(t, all.Body)
	require.Len(t, files, 4)
	require.Equal(t, packed+"logs of a host", files["prod_auto-assign_master-0.tar.gz"])
	require.Equal(t, packed+"logs of the controller", files["prod_controller.tar.gz"])
	require.Contains(t, all.Header.Get("Content-Disposition"), ".tar")

	s.want(http.StatusNoContent, http.MethodPut, clusterPath(c.ID)+"/logs-progress", `{"logs_state":"completed"}`)
	require.Equal(t, "completed", string(s.readCluster(c.ID).LogsInfo))
}

func TestUploadsThatAreNoLogsAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	path := clusterPath(c.ID) + "/logs"
	host := path + "?logs_type=host&host_id=" + h.ID.String()
	require.Contains(t, s.upload(path+"?logs_type=host", "x").Reason(http.StatusBadRequest), "host_id")
	require.Contains(t, s.upload(path+"?logs_type=host&host_id="+uuid.NewString(), "x").Reason(http.StatusNotFound), "host")
	require.Contains(t, s.upload(path+"?logs_type=other", "x").Reason(http.StatusBadRequest), "host, controller")
	require.Contains(t, s.upload(path, "x").Reason(http.StatusBadRequest), "logs_type")
	require.Contains(t, s.send(http.MethodPost, host, "x").Reason(http.StatusUnsupportedMediaType), "multipart/form-data")
	body, kind := form(t, "other", "x")
	require.Contains(t, s.send(http.MethodPost, host, body, "Content-Type", kind).Reason(http.StatusBadRequest), "upfile")
	body, kind = form(t, "upfile", strings.Repeat("x", 1000))
	broken := io.LimitReader(body, 500)
	require.Contains(t, s.send(http.MethodPost, host, broken, "Content-Type", kind).Reason(http.StatusBadRequest), "the form is incomplete")
	for content, found := range map[string]string{"no archive": "6e 6f 20", "": "", "\x1f\x8b": "1f 8b", "PK\x03\x04": "50 4b 03"} {
		body, kind = plainForm(t, content)
		require.Equal(t, "upfile: require an archive of logs, .tar.gz, that begins with the bytes 1f 8b 08, found "+found,
			s.send(http.MethodPost, host, body, "Content-Type", kind).Reason(http.StatusBadRequest))
	}
	require.Len(t, tartest.Files(t, s.want(http.StatusOK, http.MethodGet, path, nil).Body), 2, "no logs")
}

func TestNamesFromOutsideLeadNowhereInAnArchive(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
		"name": "../../up\r\nx-a: b", "api_vip_dnsname": "api.old.example.com", "openshift_cluster_id": uuid.New(),
	}).JSON(&c)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Inventory.Hostname = "/../../etc/cron.d/a" })
	path := clusterPath(c.ID) + "/logs"
	require.Equal(t, http.StatusNoContent, s.upload(path+"?logs_type=host&host_id="+h.ID.String(), "logs of a host").Status)
	require.Equal(t, http.StatusNoContent, s.upload(path+"?logs_type=controller", "logs of the controller").Status)
	files := tartest.Files(t, s.want(http.StatusOK, http.MethodGet, path+"?logs_type=all", nil).Body)
	require.Len(t, files, 4)
	for name := range files {
		require.Regexp(t, `^[A-Za-z0-9_][A-Za-z0-9._-]*\.(tar\.gz|json)$`, name)
		require.True(t, filepath.IsLocal(name), name)
	}
	for _, query := range []string{"?logs_type=all", "?logs_type=controller", "?logs_type=host&host_id=" + h.ID.String()} {
		header := s.want(http.StatusOK, http.MethodGet, path+query, nil).Header
		require.Regexp(t, `^attachment; filename="[A-Za-z0-9_][A-Za-z0-9._-]*\.tar(\.gz)?"$`, header.Get("Content-Disposition"))
		require.Empty(t, header.Get("X-A"))
	}
}

// An agent uploads the logs of its own machine, whatever cluster that is in.
func TestAgentsUploadLogsOfTheirEnvironmentOnly(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c := l.cluster(nil)
	e, beside := l.infraEnv(c.ID), l.infraEnv(c.ID)
	h, other := l.host(e.ID), l.host(beside.ID)
	token := l.token(auth.Grant{InfraEnvID: e.ID})
	for query, status := range map[string]int{
		"&host_id=" + h.ID.String():                                             http.StatusNoContent,
		"&host_id=" + other.ID.String():                                         http.StatusNotFound,
		"&host_id=" + other.ID.String() + "&infra_env_id=" + e.ID.String():      http.StatusNotFound,
		"&host_id=" + other.ID.String() + "&infra_env_id=" + beside.ID.String(): http.StatusNotFound,
	} {
		body, kind := form(t, "upfile", "logs")
		r := l.closed.send(
			http.MethodPost,
			clusterPath(c.ID)+"/logs?logs_type=host"+query,
			body,
			"Content-Type",
			kind,
			"X-Secret-Key",
			token,
		)
		require.Equal(t, status, r.Status, "%s: %s", query, r.Body)
	}
}
