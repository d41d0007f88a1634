// Package kubeapi does the few things the installer needs of the API of a new cluster, over plain HTTP: a whole
// Kubernetes client would double the agent's size.
package kubeapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// callLimit bounds one request, so that a control plane that is coming up cannot hold a wait.
const callLimit = 20 * time.Second

// kubeconfig is the part of a kubeconfig file (v1) that is used here; data fields are
// base64 in the file.
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
}

type cluster struct {
	Server   string `json:"server"`
	CA       []byte `json:"certificate-authority-data"`
	Insecure bool   `json:"insecure-skip-tls-verify"`
}

type user struct {
	Certificate []byte `json:"client-certificate-data"`
	Key         []byte `json:"client-key-data"`
	Token       string `json:"token"`
}

// current finds the cluster and the user of the current context; a file with one
// context may leave out which is current.
func (k *kubeconfig) current() (cluster, user, error) {
	for _, c := range k.Contexts {
		if c.Name != k.CurrentContext && len(k.Contexts) > 1 {
			continue
		}
		for _, named := range k.Clusters {
			if named.Name != c.Context.Cluster {
				continue
			}
			for _, who := range k.Users {
				if who.Name == c.Context.User {
					return named.Cluster, who.User, nil
				}
			}
		}
	}
	return cluster{}, user{}, fmt.Errorf("no cluster and user for the context %q", k.CurrentContext)
}

// Open makes a client from the content of a kubeconfig file. It does not talk to the API.
func Open(content []byte) (*Client, error) {
	var config kubeconfig
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	to, as, err := config.current()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: to.Insecure} //nolint:gosec // as the file says
	if len(to.CA) > 0 {
		security.RootCAs = x509.NewCertPool()
		if !security.RootCAs.AppendCertsFromPEM(to.CA) {
			return nil, errors.New("read the kubeconfig: no certificate in certificate-authority-data")
		}
	}
	if len(as.Certificate) > 0 {
		pair, err := tls.X509KeyPair(as.Certificate, as.Key)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate of the kubeconfig: %w", err)
		}
		security.Certificates = []tls.Certificate{pair}
	}
	// No proxy: the new cluster is in the network of this host, and a proxy for the way out does not know its names.
	transport := &http.Transport{
		TLSClientConfig:   security,
		DisableKeepAlives: true, // a client lives for one look
	}
	return &Client{
		server: strings.TrimRight(to.Server, "/"), token: as.Token,
		http: &http.Client{Transport: transport, Timeout: callLimit},
	}, nil
}
