package bootkube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/mcs"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// The stages of a single node that was its own bootstrap host (openshift/installer,
// data/data/bootstrap/bootstrap-in-place/files/usr/local/bin/bootstrap-in-place.sh): the cluster is kept for the same
// host, which starts from its disk next.

func (b *Bootkube) snapshot() string { return filepath.Join(b.Host.State, "snapshot.db") }

// stopEtcd saves all of etcd and ends it.
func (b *Bootkube) stopEtcd(ctx context.Context) error {
	err := b.until(ctx, "etcd is saved", func() error { return b.Etcd.Save(ctx, b.Host.Endpoint(programs.EtcdClientPort), b.snapshot()) })
	if err != nil {
		return err
	}
	return b.Stop(ctx, "etcd")
}

// masterIgnition makes the config of the node out of the machine config server's answer and the data of etcd. The answer is written down
// whatever its status: an error leaves an empty file, which the next part refuses.
func (b *Bootkube) masterIgnition(ctx context.Context) error {
	original := filepath.Join(b.OpenShift, "original-master.ign")
	answer, err := b.askServer(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(original, answer, 0o600); err != nil {
		return fmt.Errorf("write the config of the masters: %w", err)
	}
	content, err := os.ReadFile(b.snapshot())
	if err != nil {
		return fmt.Errorf("read the snapshot: %w", err)
	}
	data, err := configs.Parts{Files: map[string][]byte{plan.Snapshot: content}}.Render()
	if err != nil {
		return err
	}
	config, err := document.Merge(answer, data)
	if err != nil {
		return fmt.Errorf("add the data of etcd to %s: %w", original, err)
	}
	return os.WriteFile(filepath.Join(b.OpenShift, "master.ign"), config, 0o600)
}

func (b *Bootkube) askServer(ctx context.Context) ([]byte, error) {
	url := fmt.Sprintf("http://localhost:%d/config/%s", mcs.PlainPort, plan.Master)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/vnd.coreos.ignition+json;version=3.2.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch the config of the masters: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(response.Body)
}
