package settings

import (
	"errors"
	"fmt"
	"math"

	humanize "github.com/dustin/go-humanize"
)

// Kept bounds how many bytes are kept from hosts.
type Kept struct {
	InfraEnvBytes string `name:"max-bytes-per-infra-env" default:"100GiB" env:"SLIPWAY_MAX_BYTES_PER_INFRA_ENV" help:"How much is kept of the inventories and logs that the hosts of one InfraEnv send; 0: any amount." placeholder:"SIZE"`
	TenantBytes   string `name:"max-bytes-per-tenant" default:"500GiB" env:"SLIPWAY_MAX_BYTES_PER_TENANT" help:"How much is kept of all InfraEnvs and clusters of an organization, or of a user without one; 0: any amount." placeholder:"SIZE"`
}

// KeptBytes reads both sizes; zero is no limit.
func (k Kept) KeptBytes() (infraEnv, tenant int64, err error) {
	infraEnv, err = bytesOf("--max-bytes-per-infra-env", k.InfraEnvBytes)
	tenant, also := bytesOf("--max-bytes-per-tenant", k.TenantBytes)
	return infraEnv, tenant, errors.Join(err, also)
}

func bytesOf(name, text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("read %s: require a size such as 100GiB, or 0, found %q", name, text)
	}
	return int64(n), nil
}
