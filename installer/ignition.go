package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"time"

	"slipway/internal/client"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/wire"
)

const (
	installDir = "/opt/install-dir"
	// masterIgnition is made by the bootstrap services of a single node.
	masterIgnition = "/opt/openshift/master.ign"
	// fetchLimit is how long a download is tried again while the service does not answer.
	fetchLimit = 10 * time.Minute
)

// IgnitionReport is the output of the step ignition-fetch.
type IgnitionReport struct {
	SHA256 string `json:"sha256"` // hex
	Size   int    `json:"size"`   // bytes
}

// ignitionPath returns where the host's Ignition waits for the image: /opt/install-dir/master-<id>.ign.
func ignitionPath(req *wire.InstallCmdRequest) string {
	return path.Join(installDir, fmt.Sprintf("%s-%s.ign", finalRole(req), req.HostID))
}

// FetchIgnition downloads the Ignition the host is installed with. On a single node it is merged over the one
// its bootstrap services made, without fetching configs of a machine config server that will not exist.
func (i *Installer) FetchIgnition(ctx context.Context, req *wire.InstallCmdRequest) (IgnitionReport, error) {
	if err := i.checkAttempt(req); err != nil {
		return IgnitionReport{}, err
	}
	content, err := i.Client.HostIgnition(ctx, req.InfraEnvID, req.HostID, client.WithRetry(fetchLimit))
	if err != nil {
		return IgnitionReport{}, fmt.Errorf("fetch the Ignition of the host: %w", err)
	}
	if singleNode(req) {
		if content, err = i.mergeSingleNode(content); err != nil {
			return IgnitionReport{}, err
		}
	}
	if err := document.Check(content); err != nil {
		return IgnitionReport{}, fmt.Errorf("check the Ignition of the host: %w", err)
	}
	if err := i.privateDir(installDir); err != nil {
		return IgnitionReport{}, err
	}
	if err := i.writeFile(ignitionPath(req), content, 0o600); err != nil {
		return IgnitionReport{}, err
	}
	sum := sha256.Sum256(content)
	return IgnitionReport{SHA256: hex.EncodeToString(sum[:]), Size: len(content)}, nil
}

func (i *Installer) mergeSingleNode(host []byte) ([]byte, error) {
	master, err := os.ReadFile(i.Root.Path(masterIgnition))
	if err != nil {
		return nil, fmt.Errorf("read the Ignition of the bootstrap services: %w", err)
	}
	host, err = withoutPointer(host)
	if err != nil {
		return nil, fmt.Errorf("read the Ignition of the host: %w", err)
	}
	merged, err := document.Merge(master, host)
	if err != nil {
		return nil, fmt.Errorf("merge the Ignition of the host into %s: %w", masterIgnition, err)
	}
	return merged, nil
}

// withoutPointer drops ignition.config, the configs to be fetched and merged.
func withoutPointer(config []byte) ([]byte, error) {
	var root, ignition map[string]json.RawMessage
	if err := json.Unmarshal(config, &root); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(root["ignition"], &ignition); err != nil {
		return nil, err
	}
	delete(ignition, "config")
	var err error
	if root["ignition"], err = json.Marshal(ignition); err != nil {
		return nil, err
	}
	return json.Marshal(root)
}
