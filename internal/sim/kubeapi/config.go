package kubeapi

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Users of the simulated cluster. The API takes the name from the bearer token or the
// Impersonate-User header and believes it; without either the caller is UserAdmin.
const (
	UserAdmin            = "system:admin"
	UserNodeBootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
	UserController       = "system:serviceaccount:assisted-installer:assisted-installer-controller"
)

// Config returns a client configuration for the API at apiURL as the given user. Nothing is throttled on the
// client side.
func Config(apiURL, user string) *rest.Config {
	return &rest.Config{Host: apiURL, BearerToken: user, QPS: -1}
}

// Kubeconfig returns a kubeconfig file (YAML) for the API at apiURL as the given user.
func Kubeconfig(apiURL, user string) ([]byte, error) {
	const name = "simulated"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: apiURL}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: user}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of the simulated kube API: %w", err)
	}
	return data, nil
}
