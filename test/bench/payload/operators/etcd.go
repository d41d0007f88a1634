package operators

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/test/bench/payload/bootkube"
	"slipway/test/bench/payload/programs"
)

// bootstrapMember is the name of the bootstrap host's member of etcd.
const bootstrapMember = "etcd-bootstrap"

// dismissBootstrap acts as the operator of etcd, which takes the bootstrap host's member out once the bootstrap is recorded
// as complete: after progress.service has ended (openshift/cluster-etcd-operator, pkg/operator/bootstrapteardown).
func (o *Operators) dismissBootstrap(ctx context.Context) error {
	found, err := o.kube.CoreV1().ConfigMaps(bootkube.SystemSpace).Get(ctx, bootkube.CompleteMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read how far the bootstrap is: %w", err)
	case found.Data[bootkube.StatusKey] != bootkube.StatusOfDone:
		return nil
	}
	endpoint := o.Host.Endpoint(programs.EtcdClientPort)
	members, err := o.Etcd.Members(ctx, endpoint)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Name != bootstrapMember {
			continue
		}
		if err := o.Etcd.Remove(ctx, endpoint, m.ID); err != nil {
			return err
		}
		o.Log.Info("the bootstrap host has left etcd")
	}
	return nil
}
