package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"slipway/api/kube/resource"
	"slipway/internal/wire"
)

// lost is said of an installation that ran on a service whose data is gone.
const lost = "the service does not have the installation that was running: boot its hosts from the discovery image to install them again"

// restore imports an installed cluster that the service does not have: the hub or the service was restored without the other.
func (r *Reconciler) restore(ctx context.Context, in *Inputs) error {
	metadata := in.Install.Spec.ClusterMetadata
	if metadata == nil {
		return &resource.InputError{
			Err: errors.New("the service does not have this installed cluster: require spec.clusterMetadata to import it, found none"),
		}
	}
	id, err := uuid.Parse(metadata.ClusterID)
	if err != nil {
		return &resource.InputError{
			Err: fmt.Errorf("spec.clusterMetadata.clusterID: require the ID of the installed cluster, found %q", metadata.ClusterID),
		}
	}
	name := in.Deployment.Spec.ClusterName
	c, err := r.Service.ImportCluster(ctx, wire.ImportClusterParams{
		Name: name, APIVipDnsname: "api." + name + "." + in.Deployment.Spec.BaseDomain, OpenshiftClusterID: id,
	}, owned(in))
	return r.made(ctx, in, c, err)
}
