package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/controller"
)

const noingress = `apiVersion: v1
kind: Config
current-context: admin
clusters: [{name: test, cluster: {server: "https://api.test.example.com:6443", certificate-authority-data: Y2E=}}]
contexts: [{name: admin, context: {cluster: test, user: admin}}]
users: [{name: admin, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}}]
`

// The address in the file needs the user's DNS and load balancer from inside the cluster.
func TestTheAdministratorUsesTheAddressTheControllerHas(t *testing.T) {
	t.Parallel()
	own := &rest.Config{
		Host: "https://api-int.test.example.com:6443", BearerToken: "own", BearerTokenFile: "/var/run/token",
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte("own ca")},
	}
	config, err := controller.Administrator(own, []byte(noingress))
	require.NoError(t, err)
	require.Equal(t, "https://api-int.test.example.com:6443", config.Host)
	require.Equal(t, "own ca", string(config.CAData))
	require.Equal(t, "cert", string(config.CertData))
	require.Equal(t, "key", string(config.KeyData))
	require.Empty(t, config.BearerToken+config.BearerTokenFile, "the certificate alone says who it is")
	require.Equal(t, "own", own.BearerToken, "the controller's own configuration stays")

	text, err := controller.KubeconfigOf(config)
	require.NoError(t, err)
	again, err := clientcmd.RESTConfigFromKubeConfig(text)
	require.NoError(t, err)
	require.Equal(t, config.Host, again.Host)
	require.Equal(t, config.CertData, again.CertData)

	_, err = controller.Administrator(own, []byte("nothing"))
	require.Error(t, err)
}
