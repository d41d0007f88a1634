package api_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestManifestIsAddedReadChangedMovedAndRemoved(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	body := map[string]any{"file_name": "a.yaml", "content": encoded("a: 1\n---\nb: 2\n")}
	require.Equal(t, map[string]any{"folder": "manifests", "file_name": "a.yaml", "manifest_source": "user"},
		s.want(http.StatusCreated, http.MethodPost, path, body).Object())
	got := s.want(http.StatusOK, http.MethodGet, path+"/files?file_name=a.yaml", nil)
	require.Equal(t, "a: 1\n---\nb: 2\n", string(got.Body))
	require.Equal(t, `attachment; filename="a.yaml"`, got.Header.Get("Content-Disposition"))
	stored, err := s.blob.Get(t.Context(), "clusters/"+c.ID.String()+"/manifests/manifests/a.yaml")
	require.NoError(t, err)
	require.Equal(t, "a: 1\n---\nb: 2\n", string(stored))

	s.want(
		http.StatusOK,
		http.MethodPatch,
		path,
		map[string]any{"folder": "manifests", "file_name": "a.yaml", "updated_content": encoded("c: 3")},
	)
	s.want(
		http.StatusOK,
		http.MethodPatch,
		path,
		map[string]any{"folder": "manifests", "file_name": "a.yaml", "updated_folder": "openshift"},
	)
	s.want(
		http.StatusOK,
		http.MethodPatch,
		path,
		map[string]any{"folder": "openshift", "file_name": "a.yaml", "updated_file_name": "b.yml"},
	)
	list := s.want(http.StatusOK, http.MethodGet, path, nil).List()
	require.Equal(t, []map[string]any{{"folder": "openshift", "file_name": "b.yml", "manifest_source": "user"}}, list)
	require.Equal(t, "c: 3", string(s.want(http.StatusOK, http.MethodGet, path+"/files?folder=openshift&file_name=b.yml", nil).Body))
	objects, err := s.blob.List(t.Context(), "clusters/"+c.ID.String()+"/manifests")
	require.NoError(t, err)
	require.Len(t, objects, 1, "nothing is left where the manifest was")

	s.want(http.StatusOK, http.MethodDelete, path+"?folder=openshift&file_name=b.yml", nil)
	s.want(http.StatusOK, http.MethodDelete, path+"?folder=openshift&file_name=b.yml", nil) // a second time changes nothing
	s.send(http.MethodDelete, clusterPath(uuid.New())+"/manifests?folder=openshift&file_name=b.yml", nil).Reason(http.StatusNotFound)
	s.send(http.MethodGet, path+"/files?folder=openshift&file_name=b.yml", nil).Reason(http.StatusNotFound)
}

func TestManifestsThatTheInstallerCannotTakeAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	s.want(
		http.StatusCreated,
		http.MethodPost,
		path,
		map[string]any{"folder": "openshift", "file_name": "taken.yaml", "content": encoded("a: 1")},
	)
	for name, call := range map[string]struct {
		file, content string
		status        int
		want          string
	}{
		"a name with a space":        {"a b.yaml", encoded("a: 1"), 422, "without spaces"},
		"a name with a path":         {"a/b.yaml", encoded("a: 1"), 400, "file_name"},
		"a hidden file":              {".a.yaml", encoded("a: 1"), 422, "dot"},
		"another kind of file":       {"a.txt", encoded("a: 1"), 400, "file_name"},
		"content that is not base64": {"a.yaml", "a: 1", 400, "base64"},
		"content that is no YAML":    {"a.yaml", encoded("a: 1\n---\nb: ["), 400, "document 2"},
		"no content":                 {"a.yaml", "", 400, "found 0"},
		"too much content":           {"a.yaml", encoded(strings.Repeat("#", 1<<20) + "\n"), 400, "1048576"},
		"a patch without a path":     {"a.yaml.patch", encoded("- op: remove"), 400, "operation 1"},
		"JSON that is YAML":          {"a.json", encoded("a: 1"), 400, "line 1"},
		"a name of the other folder": {"taken.yaml", encoded("a: 1"), 400, "other folder"},
	} {
		body := map[string]any{"folder": "manifests", "file_name": call.file, "content": call.content}
		require.Contains(t, s.send(http.MethodPost, path, body).Reason(call.status), call.want, name)
	}
	objects, err := s.blob.List(t.Context(), "clusters/"+c.ID.String())
	require.NoError(t, err)
	require.Len(t, objects, 1, "refused manifests leave nothing behind")
	s.want(
		http.StatusCreated,
		http.MethodPost,
		path,
		map[string]any{"file_name": "a.yaml.patch_1", "content": encoded("- {op: remove, path: /a}")},
	)
	s.want(http.StatusCreated, http.MethodPost, path, map[string]any{"file_name": "a.json", "content": encoded(`{"a":1}`)})
	s.send(http.MethodPost, clusterPath(uuid.New())+"/manifests", map[string]any{"file_name": "a.yaml", "content": encoded("a: 1")}).
		Reason(http.StatusNotFound)
}

func TestManifestsOfTheServiceAreHiddenAndStay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	ref, err := s.blob.Put(t.Context(), "clusters/"+c.ID.String()+"/manifests/openshift/50-x.yaml", []byte("a: 1"))
	require.NoError(t, err)
	require.NoError(
		t,
		s.store.PutManifest(
			t.Context(),
			model.Manifest{ClusterID: c.ID, Folder: "openshift", FileName: "50-x.yaml", Source: "system", Blob: ref},
		),
	)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, path, nil).List())
	require.Len(t, s.want(http.StatusOK, http.MethodGet, path+"?include_system_generated=true", nil).List(), 1)
	s.send(http.MethodDelete, path+"?folder=openshift&file_name=50-x.yaml", nil).Reason(http.StatusBadRequest)

	s.want(http.StatusCreated, http.MethodPost, path, map[string]any{"file_name": "50-x.yaml", "content": encoded("b: 2")})
	require.Equal(t, []map[string]any{{"folder": "manifests", "file_name": "50-x.yaml", "manifest_source": "user"}},
		s.want(http.StatusOK, http.MethodGet, path+"?include_system_generated=true", nil).List(), "a user's manifest takes the place")
}

func TestManifestIsNotMovedOverAnother(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	for _, m := range []map[string]any{{"file_name": "a.yaml"}, {"file_name": "b.yaml"}, {"file_name": "c.yaml", "folder": "openshift"}} {
		m["content"] = encoded("name: " + m["file_name"].(string))
		s.want(http.StatusCreated, http.MethodPost, path, m)
	}
	move := map[string]any{"folder": "manifests", "file_name": "a.yaml", "updated_file_name": "b.yaml"}
	require.Contains(t, s.send(http.MethodPatch, path, move).Reason(http.StatusConflict), "manifests/b.yaml")
	move["updated_file_name"] = "c.yaml"
	require.Contains(t, s.send(http.MethodPatch, path, move).Reason(http.StatusBadRequest), "other folder")
	move["updated_file_name"] = "a.json"
	require.Contains(
		t,
		s.send(http.MethodPatch, path, move).Reason(http.StatusBadRequest),
		"a.json is not valid JSON",
		"the old content under a new name",
	)
	move["updated_file_name"] = "a b.yaml"
	require.Contains(t, s.send(http.MethodPatch, path, move).Reason(http.StatusUnprocessableEntity), "spaces")
	for _, name := range []string{"a.yaml", "b.yaml"} {
		require.Equal(t, "name: "+name, string(s.want(http.StatusOK, http.MethodGet, path+"/files?file_name="+name, nil).Body))
	}
	require.Empty(t, s.want(http.StatusOK, http.MethodHead, path+"/files?file_name=a.yaml", nil).Body)
	s.send(http.MethodPatch, path, map[string]any{"folder": "openshift", "file_name": "a.yaml"}).Reason(http.StatusNotFound)
	s.want(http.StatusOK, http.MethodPatch, path, map[string]any{"folder": "manifests", "file_name": "a.yaml"})
}

func TestManifestsOfAnInstallationCanBeAddedButNotChanged(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/manifests"
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	s.want(http.StatusCreated, http.MethodPost, path, map[string]any{"file_name": "a.yaml", "content": encoded("a: 1")})
	require.Contains(t, s.send(http.MethodDelete, path+"?file_name=a.yaml", nil).Reason(http.StatusBadRequest), "installing")
	body := map[string]any{"folder": "manifests", "file_name": "a.yaml", "updated_content": encoded("a: 2")}
	require.Contains(t, s.send(http.MethodPatch, path, body).Reason(http.StatusBadRequest), "installing")
}
