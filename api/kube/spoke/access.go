package spoke

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/internal/platform/guard"
)

// Access reads a kubeconfig. Users write it, so that it may name neither a program, which would run here, nor a file, and its server and
// proxy are bounded as other addresses of users are: an error of the connection says so.
func Access(kubeconfig []byte, outbound guard.Outbound) (*rest.Config, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	for name, user := range config.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil || user.TokenFile+user.ClientCertificate+user.ClientKey != "" {
			return nil, fmt.Errorf("require data of certificate and key, or a token, of user %s, found a program or a file", name)
		}
	}
	for name, cluster := range config.Clusters {
		if cluster.CertificateAuthority != "" {
			return nil, fmt.Errorf("require data of the authority of cluster %s, found a file", name)
		}
	}
	access, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	proxy := access.Proxy // of the cluster's proxy-url
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	access.Dial, access.Proxy = outbound.DialContext, outbound.Proxy(proxy)
	return access, nil
}
