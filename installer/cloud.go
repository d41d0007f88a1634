package installer

import (
	"context"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// arbiters counts the arbiters of the cluster besides this host; unknown until the service listed the hosts.
func (o *others) arbiters(ctx context.Context) (count int, known bool) {
	if !o.listed {
		o.load(ctx)
	}
	for _, h := range o.hosts {
		if h.role == model.RoleArbiter {
			count++
		}
	}
	return count, o.listed
}

// withoutCloud reports whether the nodes of the cluster wait for a cloud that it cannot reach; false until the service
// described the cluster.
func (o *others) withoutCloud(ctx context.Context) bool {
	if o.cluster == nil {
		cluster, err := o.Client.ClusterWithoutHosts(ctx, o.req.ClusterID)
		if err != nil {
			if ctx.Err() == nil {
				o.Log.Warn("platform of the cluster not read", "error", err)
			}
			return false
		}
		o.cluster = cluster
	}
	return openshift.WithoutCloud(string(o.cluster.Platform.Type), o.cluster.InstallConfigOverrides)
}
