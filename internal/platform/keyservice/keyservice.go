// Package keyservice opens the services that seal a key file, by their address.
package keyservice

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/secrets"
	_ "gocloud.dev/secrets/awskms"     // awskms:// addresses
	_ "gocloud.dev/secrets/hashivault" // hashivault:// addresses
)

// schemes are the services whose drivers are small: docs/rationale.md, "Which key services".
var schemes = []string{"hashivault", "awskms"}

// Open opens the service at an address:
//
//	hashivault://KEY[?engine=MOUNT]      transit engine of HashiCorp Vault or OpenBao, at VAULT_ADDR with VAULT_TOKEN
//	awskms://KEY?region=REGION           AWS KMS, with the credentials of AWS_...
//	awskms:///arn:aws:kms:...?region=... a key by its ARN
//
// It does not ask the service anything. Servers and credentials are read from the environment by the drivers.
func Open(ctx context.Context, address string) (*secrets.Keeper, error) {
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Host+u.Path == "" {
		return nil, fmt.Errorf("read --key-service: require %s://KEY, found %q", strings.Join(schemes, "://KEY or "), shown(u))
	}
	if u.User != nil {
		return nil, errors.New("read --key-service: require an address without a password: credentials are in the environment")
	}
	keeper, err := secrets.OpenKeeper(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("open the key service: %w", err)
	}
	return keeper, nil
}

// shown returns what an error shows of an address: whoever gives a key in place of an address does not find it in the log.
func shown(u *url.URL) string {
	if u == nil || u.Scheme == "" {
		return ""
	}
	return u.Scheme + "://..."
}
