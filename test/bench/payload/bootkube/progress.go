package bootkube

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Progress ends when etcd has left this host: bootkube is done, and the members say so.
func (b *Bootkube) Progress(ctx context.Context) error {
	err := b.until(ctx, "bootkube is done", func() error {
		_, err := os.Stat(filepath.Join(b.OpenShift, ".bootkube.done"))
		return err
	})
	if err != nil || b.Host.Plan.InPlace {
		return err
	}
	return b.until(ctx, "etcd has left this host", func() error {
		if !b.left(ctx) {
			return errors.New("require etcd to answer without this host's member")
		}
		return nil
	})
}
