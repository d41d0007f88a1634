package reports

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// addCA appends PEM certificates to the certificate authorities of every cluster in a
// kubeconfig. It returns an ErrInvalid when the text holds no certificate.
func addCA(kubeconfig []byte, certificates string) ([]byte, error) {
	if block, _ := pem.Decode([]byte(certificates)); block == nil || block.Type != "CERTIFICATE" {
		return nil, model.Invalidf("no PEM certificate found")
	}
	var doc map[string]any
	if err := yaml.Unmarshal(kubeconfig, &doc); err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	clusters, _ := doc["clusters"].([]any)
	for _, entry := range clusters {
		named, _ := entry.(map[string]any)
		cluster, _ := named["cluster"].(map[string]any)
		if cluster == nil {
			continue
		}
		encoded, _ := cluster["certificate-authority-data"].(string)
		have, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("read certificate authority of kubeconfig: %w", err)
		}
		all := strings.TrimRight(string(have), "\n") + "\n" + strings.TrimSpace(certificates) + "\n"
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString([]byte(strings.TrimLeft(all, "\n")))
	}
	return yaml.Marshal(doc)
}
