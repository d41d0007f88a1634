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
	Life     time.Duration `default:"720h" aliases:"expires" help:"How long the token is valid: from 1m to 87600h (ten years)."`
}

const (
	leastTokenLife = time.Minute
	mostTokenLife  = 10 * 365 * 24 * time.Hour
)

// Run prints the token, and beside it, on standard error, when it ends.
func (c *agentTokenCommand) Run(p *process.Process) error {
	if c.InfraEnv == uuid.Nil && c.Cluster == uuid.Nil {
		return errors.New("--infra-env or --cluster is required")
	}
	if c.Life < leastTokenLife || c.Life > mostTokenLife {
		return fmt.Errorf("read --life: require a duration from %s to %s, found %s", leastTokenLife, mostTokenLife, c.Life)
	}
	now := p.Now()
	grant := auth.Grant{InfraEnvID: c.InfraEnv, ClusterID: c.Cluster, Issued: now, Expires: now.Add(c.Life).Truncate(time.Second)}
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
	fmt.Fprintln(p.Stderr, "valid until", grant.Expires.UTC().Format(time.RFC3339))
	return nil
}
