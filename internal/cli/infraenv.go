package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	humanize "github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// InfraEnvCommands are the commands below "infra-env".
type InfraEnvCommands struct {
	Connection

	Create    infraEnvCreate   `cmd:"" help:"Make an InfraEnv, for a cluster or for hosts without one."`
	List      infraEnvList     `cmd:"" help:"List the InfraEnvs."`
	Show      infraEnvShow     `cmd:"" help:"Show an InfraEnv, its settings and its hosts."`
	Set       infraEnvSet      `cmd:"" help:"Change an InfraEnv."`
	Address   infraEnvURL      `cmd:"" name:"url" help:"Make an address of the discovery image, or of a file, that needs no password."`
	RotateKey infraEnvRotate   `cmd:"" name:"rotate-key" help:"Replace the key that signs addresses: earlier ones become invalid."`
	Ignition  infraEnvIgnition `cmd:"" help:"Download the Ignition hosts of an InfraEnv boot with."`
	Forget    infraEnvForget   `cmd:"" name:"forget-hosts" help:"Delete many hosts of an InfraEnv, by their statuses."`
	Delete    infraEnvDelete   `cmd:"" help:"Delete an InfraEnv and its hosts without a cluster."`
}

type infraEnvCreate struct {
	Name    string  `arg:"" help:"Name of the InfraEnv."`
	Cluster string  `help:"Cluster its hosts belong to: name or id. Without, they wait for 'host bind'."`
	Arch    *string `help:"CPU architecture of the hosts." placeholder:"x86_64"`
	infraEnvFlags
}

// Validate checks for the required settings of a new InfraEnv.
func (k *infraEnvCreate) Validate() error {
	if k.PullSecret == nil {
		return usagef("require --pull-secret")
	}
	return nil
}

// Run makes an InfraEnv.
func (k *infraEnvCreate) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	flags, err := k.params()
	if err != nil {
		return err
	}
	only := struct {
		Name    string     `json:"name"`
		Cluster *uuid.UUID `json:"cluster_id,omitempty"`
		Arch    *string    `json:"cpu_architecture,omitempty"`
	}{k.Name, nil, k.Arch}
	if k.Cluster != "" {
		cluster, err := FindCluster(ctx, c, k.Cluster)
		if err != nil {
			return err
		}
		only.Cluster = &cluster.ID
	}
	params, err := define[wire.InfraEnvCreateParams](nil, flags, only)
	if err != nil {
		return err
	}
	if err := checkInfraEnvName(ctx, c, k.Name); err != nil {
		return err
	}
	env, err := c.RegisterInfraEnv(ctx, params)
	if err != nil {
		return failed(at.URL, "create InfraEnv "+k.Name, err)
	}
	if at.forPrograms() {
		return at.print(t, env)
	}
	t.printf("InfraEnv %s created: %s\n", env.Name, env.ID)
	return nil
}

type infraEnvList struct {
	Cluster string `help:"Only InfraEnvs of this cluster: name or id."`
}

// Run prints the InfraEnvs.
func (k *infraEnvList) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	id := uuid.Nil
	if k.Cluster != "" {
		cluster, err := FindCluster(ctx, c, k.Cluster)
		if err != nil {
			return err
		}
		id = cluster.ID
	}
	envs, err := c.ListInfraEnvs(ctx, id)
	if err != nil {
		return failed(at.URL, "list the InfraEnvs", err)
	}
	if at.forPrograms() {
		return at.print(t, envs)
	}
	names, err := clusterNames(ctx, c)
	if err != nil {
		return err
	}
	table := view.Table{Header: []string{"NAME", "ID", "CLUSTER", "VERSION", "AGE"}}
	for n := range envs {
		e := &envs[n]
		table.Add(e.Name, e.ID.String(), names[e.ClusterID], e.OpenshiftVersion, t.age(e.CreatedAt.Time()))
	}
	at.table(t, &table)
	return nil
}

// clusterNames returns the names of the clusters by their ids.
func clusterNames(ctx context.Context, c *client.Client) (map[uuid.UUID]string, error) {
	clusters, err := c.ListClusters(ctx, false)
	if err != nil {
		return nil, failed(c.BaseURL(), "list the clusters", err)
	}
	names := map[uuid.UUID]string{}
	for n := range clusters {
		names[clusters[n].ID] = clusters[n].Name
	}
	return names, nil
}

type infraEnvShow struct{ infraEnvArgument }

// Run prints one InfraEnv.
func (k *infraEnvShow) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	e, err := k.find(ctx, c)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, e)
	}
	names, err := clusterNames(ctx, c)
	if err != nil {
		return err
	}
	hosts, err := c.ListHosts(ctx, e.ID)
	if err != nil {
		return failed(at.URL, "list the hosts of "+e.Name, err)
	}
	kept, err := c.Usage(ctx, e.ID)
	if err != nil && !errors.Is(err, model.ErrNotFound) { // an older service keeps any amount
		return failed(at.URL, "read how much is kept of "+e.Name, err)
	}
	t.fields(
		"Name", e.Name,
		"Id", e.ID.String(),
		"Cluster", names[e.ClusterID],
		"OpenShift", e.OpenshiftVersion,
		"Architecture", string(e.CPUArchitecture),
		"Image", string(e.Type),
		"Registers until", imageEnd(ctx, c, e.ID),
		"HTTP proxy", e.Proxy.HTTPProxy,
		"HTTPS proxy", e.Proxy.HTTPSProxy,
		"No proxy", e.Proxy.NoProxy,
		"Time sources", strings.Trim(e.AdditionalNtpSources+","+e.NtpSources, ","),
		"Kernel arguments", e.KernelArguments,
		"SSH keys", e.SSHAuthorizedKey,
		"Static networks", given(e.StaticNetworkConfig),
		"Ignition override", given(e.IgnitionConfigOverride),
		"Trust bundle", given(e.AdditionalTrustBundle),
		"Kept", ofAtMost(kept.Bytes, kept.LimitBytes),
		"Kept of owner", ofAtMost(kept.OwnerBytes, kept.OwnerLimitBytes),
		"Age", t.age(e.CreatedAt.Time()),
	)
	if len(hosts) > 0 {
		t.below(view.Hosts(hosts, t.Now()))
	}
	return nil
}

// imageEnd returns when machines register no more with an image that is downloaded now; empty: never, or the service does not say.
func imageEnd(ctx context.Context, c *client.Client, infraEnv uuid.UUID) string {
	boot, err := c.BootArtifacts(ctx, infraEnv)
	if end := boot.ImageTokenExpiresAt.Time(); err == nil && end.Unix() > 0 {
		return end.Local().Format(time.DateTime)
	}
	return ""
}

// ofAtMost prints how much is kept from hosts, with its limit.
func ofAtMost(bytes, limit int64) string {
	text := humanize.IBytes(uint64(bytes)) + " of inventories and logs" //nolint:gosec // a size
	if limit > 0 {
		text += ", at most " + humanize.IBytes(uint64(limit))
	}
	return text
}

// given says that a long setting is there: -o json prints it.
func given(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("given, %d bytes", len(text))
}

type infraEnvIgnition struct {
	infraEnvArgument
	fileFlag
}

// Run downloads a discovery Ignition.
func (k *infraEnvIgnition) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	content, err := ask(ctx, &at.Connection, k, "download the Ignition of", func(c *client.Client, found *wire.InfraEnv) ([]byte, error) {
		return c.DiscoveryIgnition(ctx, found.ID)
	})
	if err != nil {
		return err
	}
	return k.write(t, "Ignition of "+k.InfraEnv, content)
}

type infraEnvURL struct {
	infraEnvArgument
	Of string `name:"of" enum:"image,discovery.ign,ipxe-script" default:"image" help:"File behind the address: image, discovery.ign or ipxe-script."`
}

// Run prints an address.
func (k *infraEnvURL) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	made, err := ask(
		ctx,
		&at.Connection,
		k,
		"make an address for",
		func(c *client.Client, found *wire.InfraEnv) (wire.PresignedURL, error) {
			if k.Of == "image" {
				return c.ImageURL(ctx, found.ID)
			}
			return c.InfraEnvFileURL(ctx, found.ID, k.Of)
		},
	)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, made)
	}
	t.printf("%s\n", made.URL)
	if end := made.ExpiresAt.Time(); end.Unix() > 0 { // the zero time is never
		t.note("until %s", end.Local().Format(time.DateTime))
	}
	return nil
}
