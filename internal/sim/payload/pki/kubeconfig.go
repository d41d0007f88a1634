package pki

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Kubeconfig lets a client into the API at server.
func Kubeconfig(server string, authority []byte, client Pair) ([]byte, error) {
	const name = "bench"
	type object = map[string]any
	data, err := yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": authority}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": name}}},
		"users":    []object{{"name": name, "user": object{"client-certificate-data": client.Cert, "client-key-data": client.Key}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return data, nil
}
