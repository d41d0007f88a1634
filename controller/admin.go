package controller

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// adminKubeconfig is the file of the service with the administrator's certificate. The controller's own account may
// not make what it does not know beforehand: any kind of object, roles among them.
const adminKubeconfig = "kubeconfig-noingress"

// admin makes the client configuration of the administrator of the new cluster.
func (c *controller) admin(ctx context.Context) (*rest.Config, error) {
	file, err := c.Service.ClusterCredentialsFile(ctx, c.ClusterID, adminKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", adminKubeconfig, err)
	}
	config, err := c.Admin(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", adminKubeconfig, err)
	}
	return config, nil
}

// administrator makes the configuration of a kubeconfig for the API that the controller reaches already: the address
// in the file needs the user's DNS and load balancer from inside the cluster.
func administrator(own *rest.Config, kubeconfig []byte) (*rest.Config, error) {
	given, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(own)
	config.BearerToken, config.BearerTokenFile, config.Username, config.Password = "", "", "", ""
	config.CertData, config.KeyData = given.CertData, given.KeyData
	config.CertFile, config.KeyFile = "", ""
	config.Timeout, config.QPS = kubeTimeout, -1
	return config, nil
}

// kubeconfigOf writes a client configuration as a kubeconfig file.
func kubeconfigOf(config *rest.Config) ([]byte, error) {
	const name = "admin"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile,
		InsecureSkipTLSVerify: config.Insecure,
	}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	text, err := clientcmd.Write(*file)
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return text, nil
}
