package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterCreate struct {
	Name         string   `arg:"" help:"Name of the cluster."`
	Version      string   `help:"OpenShift version; the service's default if not given." placeholder:"4.20"`
	BaseDomain   string   `required:"" help:"Domain below which the cluster's names are: example.com."`
	PullSecret   []byte   `required:"" type:"filecontent" help:"File with the pull secret." placeholder:"FILE"`
	SSHKey       []byte   `name:"ssh-key" type:"filecontent" help:"File with public SSH keys that may log in to the hosts." placeholder:"FILE"`
	ControlPlane int      `default:"3" help:"Hosts of the control plane; 1 makes a single-node cluster."`
	APIVIP       []string `name:"api-vip" help:"Virtual address of the API." placeholder:"ADDRESS"`
	IngressVIP   []string `name:"ingress-vip" help:"Virtual address of the applications." placeholder:"ADDRESS"`
	NTP          string   `help:"NTP servers of the hosts, separated by commas."`
	NoInfraEnv   bool     `help:"Do not make a discovery environment."`
}

// created is what clusterCreate prints for machines.
type created struct {
	Cluster  *wire.Cluster  `json:"cluster"`
	InfraEnv *wire.InfraEnv `json:"infra_env,omitempty"`
}

// Run defines a cluster and its discovery environment.
func (k *clusterCreate) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	params, err := k.params(ctx, c)
	if err != nil {
		return err
	}
	made := created{}
	if made.Cluster, err = c.RegisterCluster(ctx, params); err != nil {
		return failed(at.URL, "create cluster "+k.Name, err)
	}
	if !k.NoInfraEnv {
		made.InfraEnv, err = createInfraEnv(ctx, c, infraEnvInput{
			Name: k.Name + "_infra-env", Cluster: made.Cluster, Version: params.OpenshiftVersion, PullSecret: k.PullSecret,
			SSHKey: k.SSHKey, NTP: k.NTP,
		})
		if err != nil {
			return err
		}
	}
	if at.json() {
		return t.json(made)
	}
	t.printf("cluster %s created: %s\n", k.Name, made.Cluster.ID)
	if made.InfraEnv != nil {
		t.printf("discovery environment %s created: %s\n", made.InfraEnv.Name, made.InfraEnv.ID)
	}
	return nil
}

func (k *clusterCreate) params(ctx context.Context, c *client.Client) (wire.ClusterCreateParams, error) {
	version, err := k.version(ctx, c)
	params := wire.ClusterCreateParams{
		Name: k.Name, OpenshiftVersion: version, PullSecret: lines(k.PullSecret), BaseDNSDomain: &k.BaseDomain,
		ControlPlaneCount: &k.ControlPlane, APIVips: apiVIPs(k.APIVIP), IngressVips: ingressVIPs(k.IngressVIP),
	}
	if key := lines(k.SSHKey); key != "" {
		params.SSHPublicKey = &key
	}
	if k.NTP != "" {
		params.AdditionalNtpSource = &k.NTP
	}
	return params, err
}

// version is the one asked for, or the service's default.
func (k *clusterCreate) version(ctx context.Context, c *client.Client) (string, error) {
	if k.Version != "" {
		return k.Version, nil
	}
	versions, err := c.OpenShiftVersions(ctx, false)
	if err != nil {
		return "", failed(c.BaseURL(), "ask for the versions", err)
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		if versions[version].Default {
			return version, nil
		}
	}
	return "", &Failure{fmt.Errorf("the service has no default version; choose one with --version: %s",
		strings.Join(slices.Sorted(maps.Keys(versions)), ", ")), exitFailed}
}

func apiVIPs(addresses []string) *[]wire.APIVip {
	if addresses == nil {
		return nil
	}
	vips := make([]wire.APIVip, len(addresses))
	for n, a := range addresses {
		vips[n].IP = a
	}
	return &vips
}

func ingressVIPs(addresses []string) *[]wire.IngressVip {
	if addresses == nil {
		return nil
	}
	vips := make([]wire.IngressVip, len(addresses))
	for n, a := range addresses {
		vips[n].IP = a
	}
	return &vips
}

type clusterSet struct {
	clusterArgument
	APIVIP     []string `name:"api-vip" help:"Virtual address of the API." placeholder:"ADDRESS"`
	IngressVIP []string `name:"ingress-vip" help:"Virtual address of the applications." placeholder:"ADDRESS"`
	BaseDomain string   `help:"Domain below which the cluster's names are."`
}

// Run changes a cluster.
func (k *clusterSet) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	cluster, err := FindCluster(ctx, c, k.Cluster)
	if err != nil {
		return err
	}
	params := wire.V2ClusterUpdateParams{APIVips: apiVIPs(k.APIVIP), IngressVips: ingressVIPs(k.IngressVIP)}
	if k.BaseDomain != "" {
		params.BaseDNSDomain = &k.BaseDomain
	}
	cluster, err = c.UpdateCluster(ctx, cluster.ID, params)
	if err != nil {
		return failed(at.URL, "change cluster "+k.Cluster, err)
	}
	if at.json() {
		return t.json(cluster)
	}
	t.printf("cluster %s changed\n", cluster.Name)
	return nil
}
