package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// keyPair makes the two settings of a deployment.
func keyPair(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	open, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}))
}

// ran runs a command to its end, and returns what it printed.
func ran(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(append(os.Environ(), commandEnv+"=1"), env...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	_ = c.Run() // the code reports
	return out.String(), complaints.String(), c.ProcessState.ExitCode()
}

func TestTokensAreSignedWithTheKeysOfTheService(t *testing.T) {
	t.Parallel()
	private, public := keyPair(t)
	env := []string{"EC_PRIVATE_KEY_PEM=" + private, "EC_PUBLIC_KEY_PEM=" + public}
	local, err := auth.NewLocal(auth.LocalOptions{Mode: auth.ModeLocal, PrivateKey: model.Secret(private), PublicKey: public, Now: time.Now})
	require.NoError(t, err)
	id := uuid.New()
	out, complaints, code := ran(t, env, "agent-token", "--infra-env", id.String())
	require.Zero(t, code, complaints)
	caller, err := local.Caller(t.Context(), auth.SchemeURL, strings.TrimSpace(out))
	require.NoError(t, err)
	require.Equal(t, id, caller.InfraEnvID)
	end := time.Now().Add(720 * time.Hour)
	require.WithinDuration(t, end, caller.ExpiresAt, 10*time.Minute)
	require.Equal(t, "valid until "+caller.ExpiresAt.UTC().Format(time.RFC3339)+"\n", complaints)
	for _, flag := range []string{"--life", "--expires"} {
		out, complaints, code = ran(t, env, "agent-token", "--cluster", id.String(), flag, "48h")
		require.Zero(t, code, complaints)
		caller, err = local.Caller(t.Context(), auth.SchemeURL, strings.TrimSpace(out))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(48*time.Hour), caller.ExpiresAt, 10*time.Minute)
	}
	for _, life := range []string{"0s", "-1h", "59s", "87601h", "soon"} {
		out, complaints, code = ran(t, env, "agent-token", "--infra-env", id.String(), "--life="+life)
		require.NotZero(t, code, life)
		require.Empty(t, out, life)
		require.Contains(t, complaints, "--life", life)
	}
	_, complaints, code = ran(t, env, "agent-token")
	require.NotZero(t, code)
	require.Contains(t, complaints, "--infra-env or --cluster is required")
}

func TestServiceDoesNotStartWithoutKnowingWhoMayUseIt(t *testing.T) {
	t.Parallel()
	private, public := keyPair(t)
	_, other := keyPair(t)
	handed, foreign := issued(t, "handed"), issued(t, "foreign")
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"a mode there is not": {[]string{"AUTH_TYPE=ocm"}, "ocm"},
		"single sign-on without keys": {
			[]string{"AUTH_TYPE=rhsso"}, "AUTH_TYPE=rhsso: require JWKS_URL or JWKS_CERT, the keys that sign tokens of users, and not both",
		},
		"administrators of another mode": {
			[]string{"ADMIN_USERS=bob"}, "ADMIN_USERS requires AUTH_TYPE=rhsso, found AUTH_TYPE=local",
		},
		"none for a network": {
			[]string{"AUTH_TYPE=none", "SLIPWAY_LISTEN=0.0.0.0:0"},
			"AUTH_TYPE=none serves everybody: require an address of loopback, or --insecure-open, found --listen 0.0.0.0:0",
		},
		"plain addresses of a service with TLS": {
			[]string{"SLIPWAY_BASE_URL=http://192.0.2.1:8090"},
			`--base-url: require https:// where the listener speaks HTTPS, or --plain-http, found "http://192.0.2.1:8090"`,
		},
		"half a certificate": {[]string{"HTTPS_CERT_FILE=/no/such/file"}, "--tls-cert and --tls-key are required together"},
		"a certificate and plain": {
			[]string{"HTTPS_CERT_FILE=/a", "HTTPS_KEY_FILE=/b", "SLIPWAY_PLAIN_HTTP=true"}, "--plain-http cannot be combined with",
		},
		"an ACME server and a certificate": {
			[]string{"HTTPS_CERT_FILE=/a", "HTTPS_KEY_FILE=/b", "SLIPWAY_ACME_DIRECTORY=https://ca/dir"},
			"--acme-directory cannot be combined with --tls-cert or --tls-key",
		},
		"an ACME server and plain": {
			[]string{"SLIPWAY_PLAIN_HTTP=true", "SLIPWAY_ACME_DIRECTORY=https://ca/dir"}, "--plain-http cannot be combined with",
		},
		"an ACME server without a name": {
			[]string{"SLIPWAY_ACME_DIRECTORY=https://ca/dir", "SLIPWAY_BASE_URL=https://192.0.2.1"},
			`require --base-url https://NAME with the name in DNS that certificates are for, found "https://192.0.2.1"`,
		},
		"an ACME server without TLS": {
			[]string{"SLIPWAY_ACME_DIRECTORY=http://ca/dir", "SLIPWAY_BASE_URL=https://slipway.example"}, `require https://, found "http://ca/dir"`,
		},
		"a certificate that is not": {
			[]string{"HTTPS_CERT_FILE=/no/cert", "HTTPS_KEY_FILE=/no/key"}, "read the certificate /no/cert and its key",
		},
		"a certificate that hosts would refuse": {
			[]string{"HTTPS_CERT_FILE=" + foreign.cert, "HTTPS_KEY_FILE=" + foreign.key, "SLIPWAY_SERVICE_CA=" + handed.authority},
			"hosts trust --service-ca alone, and would refuse --tls-cert: require a certificate that CN=handed signed, " +
				"found CN=127.0.0.1 of CN=foreign",
		},
		"an authority that did not sign the own certificate": {
			[]string{"SLIPWAY_SERVICE_CA=" + handed.authority},
			"hosts trust --service-ca alone, and would refuse the certificate of the service's own authority: require a certificate that " +
				"CN=handed signed",
		},
		"local with one key": {
			[]string{"AUTH_TYPE=local", "EC_PUBLIC_KEY_PEM=" + public}, "EC_PRIVATE_KEY_PEM, which signs tokens of agents, is required",
		},
		"local with another's key": {
			[]string{"AUTH_TYPE=local", "EC_PUBLIC_KEY_PEM=" + other, "EC_PRIVATE_KEY_PEM=" + private},
			"EC_PRIVATE_KEY_PEM does not belong to EC_PUBLIC_KEY_PEM",
		},
	} {
		_, complaints, code := ran(t, append([]string{"SLIPWAY_LISTEN=127.0.0.1:0", "SLIPWAY_DATA_DIR=" + t.TempDir()}, c.env...), "up")
		require.NotZero(t, code, name)
		require.Contains(t, complaints, c.want, name)
		require.NotContains(t, complaints, private, name)
	}
}
