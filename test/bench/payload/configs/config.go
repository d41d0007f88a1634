// Package configs makes the Ignition configs of a bench cluster: the config that the bootstrap host starts the control plane from, and
// the roles' configs.
package configs

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clarketm/json"
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// Parts of a config.
type Parts struct {
	// Files by path. Files below a folder bin are programs, all others are secret.
	Files map[string][]byte
	Units []Unit
	// System are units of the live system that the config changes without bringing them.
	System []types.Unit
	// SSHKey lets people in as the user core; there may be none.
	SSHKey string
}

// Render writes an Ignition config.
func (p Parts) Render() ([]byte, error) {
	c := types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}}
	for _, path := range slices.Sorted(maps.Keys(p.Files)) {
		c.Storage.Files = append(c.Storage.Files, file(path, p.Files[path]))
	}
	for _, u := range p.Units {
		c.Systemd.Units = append(c.Systemd.Units, types.Unit{
			Name: u.Name + ".service", Enabled: util.BoolToPtr(true), Contents: util.StrToPtr(u.text()),
		})
	}
	c.Systemd.Units = append(c.Systemd.Units, p.System...)
	if p.SSHKey != "" {
		c.Passwd.Users = []types.PasswdUser{{Name: "core", SSHAuthorizedKeys: []types.SSHAuthorizedKey{types.SSHAuthorizedKey(p.SSHKey)}}}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write an Ignition config: %w", err)
	}
	return data, nil
}

func file(path string, content []byte) types.File {
	mode := 0o600
	if strings.Contains(path, "/bin/") {
		mode = 0o755
	}
	f := types.File{Node: types.Node{Path: path, Overwrite: util.BoolToPtr(true), User: types.NodeUser{Name: util.StrToPtr("root")}}}
	f.Mode = util.IntToPtr(mode)
	f.Contents.Source = util.StrToPtr("data:;base64," + base64.StdEncoding.EncodeToString(content))
	return f
}
