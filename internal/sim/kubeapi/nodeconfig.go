package kubeapi

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
)

// pools lists the pools that the machine config server knows.
var pools = []string{"master", "worker"}

// serveNodeConfig plays the machine config server: it serves the configuration of the nodes of a pool in Ignition 3.2.0, for machines
// that are not nodes yet.
func serveNodeConfig(w http.ResponseWriter, r *http.Request) {
	pool := r.PathValue("pool")
	if !slices.Contains(pools, pool) {
		http.Error(w, "no machine config pool "+pool, http.StatusNotFound)
		return
	}
	file := func(path, content string) map[string]any {
		return map[string]any{
			"path": path, "mode": 0o644, "overwrite": true,
			"contents": map[string]string{"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte(content))},
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"storage": map[string]any{"files": []any{
			file("/etc/kubernetes/kubeconfig", "simulated bootstrap kubeconfig\n"),
			file("/etc/kubernetes/manifests/keepalived.yaml", "simulated\n"),
			file("/etc/machine-config-daemon/pool", pool+"\n"),
		}},
	})
}
