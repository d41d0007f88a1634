package settings

import (
	"context"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/platform/encryption"
	"slipway/internal/platform/keyservice"
)

// KeyFile says where the keys are that encrypt secrets.
type KeyFile struct {
	KeyFile    string `name:"key-file" env:"SLIPWAY_KEY_FILE" type:"path" help:"File with the keys that encrypt secrets, best outside the data folder and its backup; by default the systemd credential slipway-keys, or keys in the data folder." placeholder:"FILE"`
	KeyService string `name:"key-service" env:"SLIPWAY_KEY_SERVICE" help:"Key service that seals the key file: hashivault://KEY, a transit key of Vault at VAULT_ADDR, or awskms://KEY?region=REGION." placeholder:"URL"`
}

// keyCredential is the credential of systemd that holds the keys.
const keyCredential = "slipway-keys"

// Path returns the path of the key file of a service with this data folder: the given one, the credential that systemd gives the process
// (systemd.exec(5), "CREDENTIALS_DIRECTORY"), or keys in the folder.
func (k KeyFile) Path(dataDir string, env envconfig.EnvLookup) string {
	if k.KeyFile != "" {
		return k.KeyFile
	}
	if folder, given := env.LookupEnv("CREDENTIALS_DIRECTORY"); given && folder != "" {
		path := filepath.Join(folder, keyCredential)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(dataDir, "keys")
}

// MasterKeys returns the key file of a service with this data folder, and the service that seals it.
func (k KeyFile) MasterKeys(ctx context.Context, dataDir string, env envconfig.EnvLookup) (encryption.File, error) {
	file := encryption.File{Path: k.Path(dataDir, env)}
	if k.KeyService == "" {
		return file, nil
	}
	service, err := keyservice.Open(ctx, k.KeyService)
	if err != nil {
		return file, err
	}
	file.Service = service
	return file, nil
}
