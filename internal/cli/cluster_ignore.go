package cli

import (
	"context"
	"encoding/json"
	"strings"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

type clusterIgnore struct {
	clusterArgument
	Validations []string `arg:"" optional:"" name:"validation" help:"Ids as 'cluster show' lists them, or all; they replace the previous ones."`
	Show        bool     `xor:"what" help:"Only print the ignored validations."`
	None        bool     `xor:"what" help:"Ignore no validation."`
}

// Validate checks the combination of arguments and flags.
func (k *clusterIgnore) Validate() error {
	if (len(k.Validations) > 0) == (k.Show || k.None) {
		return usagef("require validations, --show or --none")
	}
	return nil
}

// Run sets or prints which validations a cluster ignores.
func (k *clusterIgnore) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	params, err := ignored(k.Validations)
	if err != nil {
		return err
	}
	kept, err := ask(
		ctx,
		&at.Connection,
		k,
		"set the ignored validations of",
		func(c *client.Client, found *wire.Cluster) (wire.IgnoredValidations, error) {
			if k.Show {
				return c.IgnoredValidations(ctx, found.ID)
			}
			return c.IgnoreValidations(ctx, found.ID, params)
		},
	)
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, kept)
	}
	t.printf("ignored of %s: %s\n", k.name(), listed(kept.ClusterValidationIds))
	t.printf("ignored of its hosts: %s\n", listed(kept.HostValidationIds))
	return nil
}

// ignored sorts ids into ids of cluster and of host validations; some are both.
func ignored(ids []string) (params wire.IgnoredValidations, err error) {
	clusters, hosts := []string{}, []string{}
	for _, id := range ids {
		ofCluster, ofHost := wire.ClusterValidationID(id).Valid(), wire.HostValidationID(id).Valid()
		if ofCluster || id == "all" {
			clusters = append(clusters, id)
		}
		if ofHost || id == "all" {
			hosts = append(hosts, id)
		}
		if !ofCluster && !ofHost && id != "all" {
			return params, &Failure{model.NotFoundf("there is no validation %s", id), exitNotFound}
		}
	}
	params.ClusterValidationIds, params.HostValidationIds = jsonList(clusters), jsonList(hosts)
	return params, nil
}

func jsonList(ids []string) *string {
	text, _ := json.Marshal(ids) // strings always can be
	list := string(text)
	return &list
}

// listed reads what jsonList wrote, for people.
func listed(list *string) string {
	var ids []string
	if list == nil || json.Unmarshal([]byte(*list), &ids) != nil || len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
