package manifests

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"

	"slipway/internal/model"
)

// Modes of disk encryption.
const (
	modeTPM  = "tpmv2"
	modeTang = "tang"
)

// approvedCipher is allowed by FIPS 140; the default of cryptsetup is not.
var approvedCipher = []types.LuksOption{"--cipher", "aes-cbc-essiv:sha256"}

// diskEncryption encrypts the root file system of nodes, with a key that the machine's TPM or servers in the
// network (Tang) keep.
func diskEncryption(in Input) ([]File, error) {
	e := in.Cluster.DiskEncryption
	if e.EnableOn == "" || e.EnableOn == "none" {
		return nil, nil
	}
	clevis, err := keyHolder(e)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, role := range in.roles() {
		if e.EnableOn != "all" && !slices.Contains(strings.Split(e.EnableOn, ","), string(role)+"s") {
			continue
		}
		f, err := encrypt(role, e.Mode, clevis, fips(in.Cluster))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func keyHolder(e model.DiskEncryption) (*types.Clevis, error) {
	switch e.Mode {
	case modeTPM, "":
		return &types.Clevis{Tpm2: util.BoolToPtr(true)}, nil
	case modeTang:
		servers, err := tangServers(e.TangServers)
		return &types.Clevis{Tang: servers}, err
	}
	return nil, model.Invalidf("disk_encryption.mode: require %s or %s, found %q", modeTPM, modeTang, e.Mode)
}

// tangServers parses a list of url and thumbprint, in JSON.
func tangServers(text string) ([]types.Tang, error) {
	var list []struct {
		URL        string `json:"url"`
		Thumbprint string `json:"thumbprint"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, model.Invalidf("disk_encryption.tang_servers: require a JSON list of objects with url and thumbprint: %s", err)
	}
	if len(list) == 0 {
		return nil, model.Invalidf("disk_encryption.tang_servers: at least one server is required")
	}
	servers := make([]types.Tang, 0, len(list))
	for i, s := range list {
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || s.Thumbprint == "" {
			return nil, model.Invalidf(
				"disk_encryption.tang_servers: require the url and the thumbprint of server %d, found %q and %q",
				i+1,
				s.URL,
				s.Thumbprint,
			)
		}
		servers = append(servers, types.Tang{URL: s.URL, Thumbprint: util.StrToPtr(s.Thumbprint)})
	}
	return servers, nil
}

func encrypt(role model.Role, mode string, clevis *types.Clevis, approved bool) (File, error) {
	if mode == "" {
		mode = modeTPM
	}
	name := fmt.Sprintf("99-openshift-%s-%s-encryption", role, mode)
	m := machineConfig{name: name, role: role}
	root := types.Luks{
		Name: "root", Label: util.StrToPtr("luks-root"), Device: util.StrToPtr("/dev/disk/by-partlabel/root"),
		Clevis: clevis, WipeVolume: util.BoolToPtr(true),
	}
	if approved {
		root.Options = approvedCipher
	}
	m.config.Storage.Luks = []types.Luks{root}
	m.config.Storage.Filesystems = []types.Filesystem{{
		Device: "/dev/mapper/root", Format: util.StrToPtr("xfs"), Label: util.StrToPtr("root"), WipeFilesystem: util.BoolToPtr(true),
	}}
	if mode == modeTang {
		// The initial RAM disk asks the servers for the key, so it needs the network.
		m.kernelArguments = []string{"rd.neednet=1"}
	}
	return m.file(name + ".yaml")
}

// fips reports whether the nodes use approved cryptography only.
func fips(c *model.Cluster) bool {
	var override struct {
		FIPS bool `json:"fips"`
	}
	// A fault of the override is reported where the install-config is made.
	return json.Unmarshal([]byte(c.InstallConfigOverride), &override) == nil && override.FIPS
}
