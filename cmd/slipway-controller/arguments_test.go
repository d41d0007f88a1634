package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file is as openshift/machine-config-operator writes it (templates/common/_base/files/apiserver-url-env.yaml).
func TestAPIIsFoundAsTheHostFindsIt(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "172.30.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	file := filepath.Join(t.TempDir(), "apiserver-url.env")
	require.NoError(t, useAPIAddress(file), "there is no such file")
	require.Equal(t, "172.30.0.1", os.Getenv("KUBERNETES_SERVICE_HOST"))

	text := "KUBERNETES_SERVICE_HOST='api-int.test.example.com'\nKUBERNETES_SERVICE_PORT='6443'\nPATH=/nowhere\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, useAPIAddress(file))
	require.Equal(t, "api-int.test.example.com", os.Getenv("KUBERNETES_SERVICE_HOST"))
	require.Equal(t, "6443", os.Getenv("KUBERNETES_SERVICE_PORT"))
	require.NotEqual(t, "/nowhere", os.Getenv("PATH"))
}

func TestRequestsToTheAPIUseNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "https://api:6443"}}],
contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {token: t}}]}`), 0o600))
	config, err := arguments{Kubeconfig: file}.kubeConfig()
	require.NoError(t, err)
	proxy, err := config.Proxy(httptest.NewRequest(http.MethodGet, "https://api:6443/", nil))
	require.NoError(t, err)
	require.Nil(t, proxy)
}
