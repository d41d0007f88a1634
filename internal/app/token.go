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

// tokenCommand signs a token. It needs the keys of the service, and no service.
type tokenCommand struct {
	settings.Keys
	DataDir  string        `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of the service, with its key."`
	User     string        `xor:"for" help:"Name of a user the token is for." placeholder:"NAME"`
	ReadOnly bool          `help:"With --user: the token changes nothing, and reads neither credentials nor images."`
	InfraEnv uuid.UUID     `xor:"for" help:"InfraEnv whose agents the token is for." placeholder:"ID"`
	Cluster  uuid.UUID     `xor:"for" help:"Cluster that the token opens." placeholder:"ID"`
	Expires  time.Duration `help:"How long the token is valid; by default without a limit."`
}

// Run prints the token.
func (c *tokenCommand) Run(p *process.Process) error {
	grant := auth.Grant{Name: c.User, ReadOnly: c.ReadOnly, InfraEnvID: c.InfraEnv, ClusterID: c.Cluster}
	switch {
	case c.User != "":
		grant.Scheme = auth.SchemeUser
	case c.ReadOnly:
		return errors.New("require --user with --read-only, found another")
	case c.InfraEnv == uuid.Nil && c.Cluster == uuid.Nil:
		return errors.New("require one of --user, --infra-env and --cluster, found none")
	}
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
