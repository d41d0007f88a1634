package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
)

// Findings A2 and A8 of the second security review: an image's token opened files as api_key, and outlived the key of its InfraEnv.
func TestTokensOfImagesStandInOnePlaceAndEndWithTheKey(t *testing.T) {
	t.Parallel()
	made := map[auth.AgentTokens]string{}
	l := newLab(t, auth.ModeLocal)
	key := l.keys[envID]
	for _, mode := range []auth.AgentTokens{auth.PerHost, auth.PerInfraEnv} {
		l.AgentTokens = mode
		token, err := l.AgentToken(l.env())
		require.NoError(t, err)
		made[mode] = token.Secret.Reveal()
	}
	keyless := func(issued time.Time) string {
		token, err := l.Token(auth.Grant{InfraEnvID: envID, Issued: issued})
		require.NoError(t, err)
		return token.Reveal()
	}
	before, after := keyless(start.Add(-time.Hour)), keyless(start.Add(time.Hour))
	old := keyless(time.Time{}) // of an image or a service of before
	l.now = start.Add(2 * time.Hour)
	const refused = auth.Role("")
	for name, c := range map[string]struct {
		token        string
		image        auth.AgentTokens // that it was made with
		header       map[auth.AgentTokens]auth.Role
		address      map[auth.AgentTokens]auth.Role
		afterRotated auth.Role // as a header, with AGENT_TOKENS=infra-env
	}{
		"an image of tokens of hosts": {
			token:  made[auth.PerHost],
			header: map[auth.AgentTokens]auth.Role{auth.PerHost: auth.RoleRegistrar, auth.PerInfraEnv: auth.RoleRegistrar},
		},
		"an image of the v2 API": {
			token:  made[auth.PerInfraEnv],
			header: map[auth.AgentTokens]auth.Role{auth.PerHost: auth.RoleRegistrar, auth.PerInfraEnv: auth.RoleForeign},
		},
		"a token without a key": {
			token:   old,
			header:  map[auth.AgentTokens]auth.Role{auth.PerInfraEnv: auth.RoleForeign},
			address: map[auth.AgentTokens]auth.Role{auth.PerInfraEnv: auth.RoleAddress},
		},
		"a token that was signed before": {
			token:   before,
			header:  map[auth.AgentTokens]auth.Role{auth.PerInfraEnv: auth.RoleForeign},
			address: map[auth.AgentTokens]auth.Role{auth.PerHost: auth.RoleAddress, auth.PerInfraEnv: auth.RoleAddress},
		},
		"a token that was signed after": {
			token:        after,
			header:       map[auth.AgentTokens]auth.Role{auth.PerInfraEnv: auth.RoleForeign},
			address:      map[auth.AgentTokens]auth.Role{auth.PerHost: auth.RoleAddress, auth.PerInfraEnv: auth.RoleAddress},
			afterRotated: auth.RoleForeign,
		},
	} {
		for _, mode := range []auth.AgentTokens{auth.PerHost, auth.PerInfraEnv} {
			l.AgentTokens, l.keys[envID], l.replaced = mode, key, time.Time{}
			role := func(scheme auth.Scheme) auth.Role {
				caller, err := l.Caller(t.Context(), scheme, c.token)
				if err != nil {
					require.ErrorIs(t, err, auth.ErrRefused, name)
					return refused
				}
				require.Equal(t, envID, caller.InfraEnvID, name)
				return caller.Role
			}
			require.Equal(t, c.header[mode], role(auth.SchemeAgent), "%s, AGENT_TOKENS=%s", name, mode)
			require.Equal(t, c.address[mode], role(auth.SchemeURL), "%s as api_key, AGENT_TOKENS=%s", name, mode)
			for _, scheme := range []auth.Scheme{auth.SchemeUser, auth.SchemeImage, auth.SchemeImageURL, auth.SchemeWatcher} {
				require.Equal(t, refused, role(scheme), "%s as %s", name, scheme)
			}
			l.keys[envID], l.replaced = "another key", start
			rotated := refused
			if mode == auth.PerInfraEnv {
				rotated = c.afterRotated
			}
			require.Equal(t, rotated, role(auth.SchemeAgent), "%s after the rotation, AGENT_TOKENS=%s", name, mode)
			if c.afterRotated == "" {
				require.Equal(t, refused, role(auth.SchemeURL), "%s as api_key after the rotation, AGENT_TOKENS=%s", name, mode)
			}
		}
	}
}

func TestTokensOfImagesEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, auth.ModeLocal)
	l.AgentTokens, l.ImageTokenLife = auth.PerHost, 48*time.Hour
	l.now = time.Date(2026, 11, 29, 23, 59, 59, 0, time.FixedZone("", 3600))
	token := func() auth.AgentToken {
		t.Helper()
		made, err := l.AgentToken(l.env())
		require.NoError(t, err)
		return made
	}
	first := token()
	require.Equal(t, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC), first.Until)
	l.now = l.now.Add(time.Hour)
	require.Equal(t, first, token(), "images of one day are the same byte for byte: parts of them are fetched one by one")
	l.now = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	require.NotEqual(t, first.Secret.Reveal(), token().Secret.Reveal())

	l.now = first.Until.Add(-time.Second)
	caller, err := l.Caller(t.Context(), auth.SchemeAgent, first.Secret.Reveal())
	require.NoError(t, err)
	require.Equal(t, auth.RoleRegistrar, caller.Role)
	l.now = first.Until.Add(time.Second)
	_, err = l.Caller(t.Context(), auth.SchemeAgent, first.Secret.Reveal())
	require.ErrorContains(t, err, "it has expired")

	l.AgentTokens = auth.PerInfraEnv
	endless := token()
	require.True(t, endless.Until.IsZero())
	l.now = l.now.AddDate(3, 0, 0)
	_, err = l.Caller(t.Context(), auth.SchemeAgent, endless.Secret.Reveal())
	require.NoError(t, err, "agents that know no other token are being installed with it")
}
