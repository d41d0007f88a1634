package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
)

// follow downloads from an address that the service gave out.
func (s *service) follow(address string) reply {
	s.t.Helper()
	path, found := strings.CutPrefix(address, "http://service.example:8090"+base)
	require.True(s.t, found, address)
	return s.send(http.MethodGet, path, nil)
}

func (s *service) presigned(path string, headers ...string) string {
	s.t.Helper()
	got := s.want(http.StatusOK, http.MethodGet, path, nil, headers...).Object()
	expires, err := time.Parse(time.RFC3339, got["expires_at"].(string))
	require.NoError(s.t, err)
	require.True(s.t, expires.After(time.Now().Add(9*time.Minute)) && expires.Before(time.Now().Add(5*time.Hour)), "expires at %s", expires)
	return got["url"].(string)
}

// installed puts a cluster into its last state, with the files of an installation.
func (s *service) installed(id uuid.UUID) {
	s.t.Helper()
	s.changeCluster(id, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	for _, name := range []string{"kubeconfig", "kubeadmin-password", "bootstrap.ign", "logs/controller/logs.tar.gz"} {
		_, err := s.blob.PutSecret(s.t.Context(), "clusters/"+id.String()+"/"+name, []byte("content of "+name))
		require.NoError(s.t, err)
	}
}

func TestSignedAddressesOpenFilesInEveryMode(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, e := l.cluster(nil), l.infraEnv(uuid.Nil)
	l.want(
		http.StatusCreated,
		http.MethodPost,
		clusterPath(c.ID)+"/manifests",
		map[string]any{"folder": "openshift", "file_name": "a.yaml", "content": "YTogYgo="},
	)
	l.installed(c.ID)
	user := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
	for path, want := range map[string]string{
		clusterPath(c.ID) + "/downloads/credentials-presigned?file_name=kubeconfig": "content of kubeconfig",
		clusterPath(
			c.ID,
		) + "/downloads/credentials-presigned?file_name=kubeadmin-password": "content of kubeadmin-password",
		clusterPath(
			c.ID,
		) + "/downloads/files-presigned?file_name=bootstrap.ign": "content of bootstrap.ign",
		clusterPath(
			c.ID,
		) + "/downloads/files-presigned?file_name=logs&logs_type=controller": "content of logs/controller",
		clusterPath(c.ID) + "/downloads/files-presigned?file_name=logs":                                            "prod_controller",
		clusterPath(c.ID) + "/downloads/files-presigned?file_name=manifests&additional_name=openshift/a.yaml":      "a: b",
		envPath(e.ID) + "/downloads/files-presigned?file_name=discovery.ign":                                       `"ignition"`,
		envPath(e.ID) + "/downloads/files-presigned?file_name=ipxe-script&ipxe_script_type=boot-order-control":     "chain",
		envPath(e.ID) + "/downloads/files-presigned?file_name=ipxe-script&ipxe_script_type=discovery-image-always": "kernel",
	} {
		l.follow(l.presigned(path)) // mode none
		got := l.closed.follow(l.closed.presigned(path, user...))
		require.Equal(t, http.StatusOK, got.Status, "%s: %s", path, got.Body)
		require.Contains(t, string(got.Body), want, path)
		l.closed.send(http.MethodGet, path, nil).Message(http.StatusUnauthorized)
	}
}

func TestSignedAddressOpensNothingElse(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c := l.cluster(nil)
	l.installed(c.ID)
	for _, s := range []*service{l.service, l.closed} {
		header := []string{"Authorization", l.token(auth.Grant{Scheme: auth.SchemeUser})}
		address := s.presigned(clusterPath(c.ID)+"/downloads/credentials-presigned?file_name=kubeconfig", header...)
		for name, changed := range map[string]string{
			"another file":      strings.Replace(address, "file_name=kubeconfig", "file_name=kubeadmin-password", 1),
			"another cluster":   strings.Replace(address, c.ID.String(), uuid.NewString(), 1),
			"another operation": strings.Replace(address, "/downloads/credentials", "/downloads/files", 1),
			"one thing more":    address + "&x=y",
			"another signature": strings.Replace(address, "signature=", "signature=x", 1),
			"no signature":      "",
		} {
			if changed == "" {
				continue
			}
			require.Contains(t, s.follow(changed).Message(http.StatusUnauthorized), "signature: ", name)
		}
		signature := address[strings.Index(address, "signature="):]
		s.send(http.MethodDelete, clusterPath(c.ID)+"?"+signature, nil).Message(http.StatusUnauthorized)
		s.send(http.MethodGet, "/v2/clusters?"+signature, nil).Message(http.StatusUnauthorized)
	}
}

func TestSignedAddressEndsWithTheTokenThatMadeIt(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	c, e := l.cluster(nil), l.infraEnv(uuid.Nil)
	l.installed(c.ID)
	paths := []string{
		clusterPath(c.ID) + "/downloads/credentials-presigned?file_name=kubeconfig",
		clusterPath(c.ID) + "/downloads/files-presigned?file_name=bootstrap.ign",
		envPath(e.ID) + "/downloads/files-presigned?file_name=discovery.ign",
	}
	made := func(token string) (addresses []string) {
		for _, path := range paths {
			addresses = append(addresses, l.closed.presigned(path, "Authorization", token))
		}
		return addresses
	}
	eve := l.userToken(model.UserToken{UserName: "eve", Role: "admin"})
	ofEve, ofAnn := made(eve), made(l.userToken(model.UserToken{UserName: "ann", Role: "admin"}))
	for _, address := range ofEve {
		require.Equal(t, http.StatusOK, l.closed.follow(address).Status)
	}
	for _, token := range must(l.store.Tokens(t.Context(), store.TokenFilter{UserName: "eve"})) {
		require.NoError(t, l.store.RevokeToken(t.Context(), token.ID, store.TokenFilter{}))
	}
	for n := range paths {
		said := l.closed.follow(ofEve[n]).Message(http.StatusUnauthorized)
		require.Equal(t, "signature: the token that the address was made with was revoked, or has expired", said)
		require.Equal(t, http.StatusOK, l.closed.follow(ofAnn[n]).Status)
	}

	soon := model.UserToken{
		ID: uuid.New(), UserName: "bob", Role: "admin", CreatedBy: "test", CreatedAt: time.Now(),
		ExpiresAt: time.Now().Add(time.Minute).Truncate(time.Second),
	}
	require.NoError(t, l.store.CreateToken(t.Context(), soon))
	token := must(l.tokens.UserToken(soon))
	got := l.closed.want(http.StatusOK, http.MethodGet, paths[0], nil, "Authorization", token.Reveal()).Object()
	require.Equal(t, soon.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z"), got["expires_at"], "the address says when it ends")
}

func TestAddressesAreNotSignedForFilesThereAreNot(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/downloads/"
	for query, status := range map[string]int{
		"credentials-presigned?file_name=kubeconfig":                      http.StatusConflict,
		"credentials-presigned?file_name=hello":                           http.StatusBadRequest,
		"files-presigned?file_name=bootstrap.ign":                         http.StatusConflict,
		"files-presigned?file_name=logs":                                  http.StatusNotFound,
		"files-presigned?file_name=logs&logs_type=host":                   http.StatusBadRequest,
		"files-presigned?file_name=logs&logs_type=controller":             http.StatusNotFound,
		"files-presigned?file_name=logs&host_id=" + uuid.NewString():      http.StatusNotFound,
		"files-presigned?file_name=manifests":                             http.StatusBadRequest,
		"files-presigned?file_name=manifests&additional_name=openshift/a": http.StatusNotFound,
	} {
		require.NotEmpty(t, s.send(http.MethodGet, path+query, nil).Reason(status), query)
	}
	missing := uuid.New()
	for _, path := range []string{
		clusterPath(missing) + "/downloads/credentials-presigned?file_name=kubeconfig",
		clusterPath(missing) + "/downloads/files-presigned?file_name=logs",
		clusterPath(missing) + "/downloads/files-presigned?file_name=manifests&additional_name=openshift/a",
		envPath(missing) + "/downloads/files-presigned?file_name=discovery.ign",
		envPath(missing) + "/downloads/image-url",
	} {
		s.send(http.MethodGet, path, nil).Reason(http.StatusNotFound)
	}
}
