package pki

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Access lets a client into the API of a cluster.
type Access struct {
	Cluster, User string // names within the kubeconfig
	Server        string // URL
	Authority     []byte // that the server's certificate is signed by, in PEM
	Client        Pair
}

// Kubeconfig returns the file for clients.
func (a Access) Kubeconfig() ([]byte, error) {
	type object = map[string]any
	data, err := yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "preferences": object{}, "current-context": a.User,
		"clusters": []object{{"name": a.Cluster, "cluster": object{"server": a.Server, "certificate-authority-data": a.Authority}}},
		"contexts": []object{{"name": a.User, "context": object{"cluster": a.Cluster, "user": a.User}}},
		"users":    []object{{"name": a.User, "user": object{"client-certificate-data": a.Client.Cert, "client-key-data": a.Client.Key}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return data, nil
}
