package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// action is an operation on one cluster that returns it.
type action func(c *client.Client, ctx context.Context, id uuid.UUID, options ...client.Option) (*wire.Cluster, error)

func (a clusterArgument) act(ctx context.Context, at *ClusterCommands, t *Terminal, verb string, do action) error {
	var before wire.ClusterStatus
	cluster, err := ask(ctx, &at.Connection, a, verb, func(c *client.Client, found *wire.Cluster) (*wire.Cluster, error) {
		changed, err := do(c, ctx, found.ID)
		if err != nil {
			return nil, err
		}
		before = found.Status
		return settled(ctx, c, changed, before), nil
	})
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, cluster)
	}
	if cluster.Status == before {
		t.printf("cluster %s: still %s, the command is accepted\n", cluster.Name, cluster.Status)
		return nil
	}
	t.printf("cluster %s: %s\n", cluster.Name, cluster.Status)
	return nil
}

// Limits of settled.
const (
	settleTime  = 5 * time.Second
	settlePause = 250 * time.Millisecond
)

// settled reads a cluster until its status is another one than before a command: workflows change it after the answer.
func settled(ctx context.Context, c *client.Client, cluster *wire.Cluster, before wire.ClusterStatus) *wire.Cluster {
	for waited := time.Duration(0); cluster.Status == before && waited < settleTime; waited += settlePause {
		if hostexec.Sleep(ctx, settlePause) != nil {
			break
		}
		next, err := c.Cluster(ctx, cluster.ID)
		if err != nil {
			break // the command is accepted
		}
		cluster = next
	}
	return cluster
}

type clusterInstall struct {
	clusterArgument
	Wait    bool          `help:"Wait until the cluster is installed."`
	Timeout time.Duration `default:"4h" help:"How long to wait."`
}

// Run starts an installation.
func (k *clusterInstall) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	if err := k.act(ctx, at, t, "install", (*client.Client).InstallCluster); err != nil || !k.Wait {
		return err
	}
	return waitCluster{k.clusterArgument, waitFlags{string(wire.ClusterStatusInstalled), k.Timeout}}.wait(ctx, &at.Connection, t)
}

type clusterCancel struct{ clusterArgument }

// Run stops an installation.
func (k *clusterCancel) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "cancel the installation of", (*client.Client).CancelCluster)
}

type clusterReset struct{ clusterArgument }

// Run resets a cluster to discovery.
func (k *clusterReset) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "reset", (*client.Client).ResetCluster)
}

type clusterAddHosts struct{ clusterArgument }

// Run opens an installed cluster for more hosts.
func (k *clusterAddHosts) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	return k.act(ctx, at, t, "add hosts to", (*client.Client).AllowAddHosts)
}

type clusterDelete struct {
	clusterArgument
	confirmation
	KeepInfraEnv bool `name:"keep-infra-env" help:"Keep the InfraEnv that was created with the cluster."`
}

// Run deletes a cluster, and the InfraEnv that was created with it unless that has other hosts.
func (k *clusterDelete) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := k.find(ctx, c)
	if err != nil {
		return err
	}
	if slices.Contains(withCredentials, cluster.Status) {
		what := fmt.Sprintf("Cluster %s is %s: its kubeconfig and the password of kubeadmin are deleted with it", cluster.Name, cluster.Status)
		if err := k.confirm(t, what); err != nil {
			return err
		}
	}
	var env *wire.InfraEnv
	if !k.KeepInfraEnv {
		if env, err = createdWith(ctx, c, cluster); err != nil {
			return err
		}
	}
	if err := c.DeleteCluster(ctx, cluster.ID); err != nil {
		return failed(at.URL, "delete "+k.name(), err)
	}
	k.report(at, t, "cluster "+cluster.Name)
	if env != nil {
		if err := c.DeleteInfraEnv(ctx, env.ID); err != nil {
			return failed(at.URL, "delete InfraEnv "+env.Name, err)
		}
		k.report(at, t, "InfraEnv "+env.Name)
	}
	t.note("slipway cluster undelete %s brings it back until it is purged", cluster.ID)
	return nil
}

func (k *clusterDelete) report(at *ClusterCommands, t *Terminal, what string) {
	if !at.forPrograms() {
		t.printf("%s deleted\n", what)
	}
}

type clusterUndelete struct {
	Cluster string `arg:"" predictor:"deleted-cluster" help:"Name or id of the deleted cluster."`
}

// Run brings a deleted cluster back.
func (k *clusterUndelete) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	id, err := findDeleted(ctx, at.Client(), strings.TrimPrefix(k.Cluster, kindCluster))
	if err != nil {
		return err
	}
	cluster, err := at.Client().UndeleteCluster(ctx, id)
	if err != nil {
		return failed(at.URL, "bring back cluster "+k.Cluster, err)
	}
	if at.forPrograms() {
		return at.print(t, cluster)
	}
	t.printf("cluster %s: %s, %d hosts\n", cluster.Name, cluster.Status, cluster.TotalHostCount)
	return nil
}

// findDeleted returns the id of a deleted cluster by its name or id. Ids are not looked up: the service says what is wrong with one.
func findDeleted(ctx context.Context, c *client.Client, name string) (uuid.UUID, error) {
	if id, err := uuid.Parse(name); err == nil {
		return id, nil
	}
	all, err := c.DeletedClusters(ctx)
	if err != nil {
		return uuid.Nil, failed(c.BaseURL(), "find deleted cluster "+name, err)
	}
	found, err := only("deleted cluster", name, all, func(c *wire.DeletedCluster) (string, bool) { return c.ID.String(), c.Name == name })
	if err != nil {
		return uuid.Nil, err
	}
	return found.ID, nil
}

// withCredentials are the statuses of clusters whose kubeconfig works.
var withCredentials = []wire.ClusterStatus{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts, wire.ClusterStatusUnmonitored}

// createdWith returns the InfraEnv that 'cluster create' made for a cluster; nil without one, or when it has hosts of other clusters.
func createdWith(ctx context.Context, c *client.Client, cluster *wire.Cluster) (*wire.InfraEnv, error) {
	all, err := c.ListInfraEnvs(ctx, cluster.ID)
	if err != nil {
		return nil, failed(c.BaseURL(), "list the InfraEnvs", err)
	}
	n := slices.IndexFunc(all, func(e wire.InfraEnv) bool { return e.Name == infraEnvName(cluster.Name) })
	if n < 0 {
		return nil, nil
	}
	hosts, err := c.ListHosts(ctx, all[n].ID)
	if err != nil {
		return nil, failed(c.BaseURL(), "list the hosts of "+all[n].Name, err)
	}
	if slices.ContainsFunc(hosts, func(h wire.Host) bool { return h.ClusterID != cluster.ID }) {
		return nil, nil
	}
	return &all[n], nil
}

type clusterImport struct {
	Name    string    `arg:"" help:"Name of the cluster."`
	APIName string    `name:"api-name" required:"" help:"Name or address of its API: api.lab.example.com." placeholder:"NAME"`
	ID      uuid.UUID `name:"id" required:"" help:"Its own id: oc get clusterversion version -o jsonpath={.spec.clusterID}" placeholder:"UUID"`
	Version *string   `help:"Its OpenShift version." placeholder:"4.20"`
}

// Run imports a cluster that was installed elsewhere.
func (k *clusterImport) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	cluster, err := at.Client().ImportCluster(ctx, wire.ImportClusterParams{
		Name: k.Name, APIVipDnsname: k.APIName, OpenshiftClusterID: k.ID, OpenshiftVersion: k.Version,
	})
	if err != nil {
		return failed(at.URL, "import cluster "+k.Name, err)
	}
	if at.forPrograms() {
		return at.print(t, cluster)
	}
	t.printf("cluster %s imported: %s\n", cluster.Name, cluster.ID)
	return nil
}
