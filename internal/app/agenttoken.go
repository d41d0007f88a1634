package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
	"slipway/internal/platform/auth"
)

// agentTokenCommand signs a token of the v2 API for one object. It needs the keys of the service, and no service.
type agentTokenCommand struct {
	settings.Keys
	DataDir  string        `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of the service, with its key."`
	InfraEnv uuid.UUID     `xor:"for" help:"InfraEnv whose agents the token is for, with AGENT_TOKENS=infra-env; in an address (api_key) it opens the image." placeholder:"ID"`
	Cluster  uuid.UUID     `xor:"for" help:"Cluster that the token opens." placeholder:"ID"`
	Expires  time.Duration `help:"How long the token is valid; by default without a limit, as a host may be switched on again years later."`
}

// Run prints the token.
func (c *agentTokenCommand) Run(p *process.Process) error {
	if c.InfraEnv == uuid.Nil && c.Cluster == uuid.Nil {
		return errors.New("--infra-env or --cluster is required")
	}
	grant := auth.Grant{InfraEnvID: c.InfraEnv, ClusterID: c.Cluster, Issued: p.Now()}
	if c.Expires > 0 {
		grant.Expires = p.Now().Add(c.Expires)
	}
	keys, err := service.OwnKeys(c.Keys, c.DataDir)
	if err != nil {
		return err
	}
	local, err := service.LocalIdentity(keys, auth.ModeLocal, 0, p.Now)
	if err != nil {
		return err
	}
	token, err := local.Token(grant)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, token.Reveal())
	return nil
}
