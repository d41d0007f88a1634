package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/auth"
)

// identified returns a service that knows its users, and its log.
func identified(t *testing.T, mode, agentTokens string) (*Service, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	var o settings.Service
	o.DataDir, o.AuthType, o.AgentTokens = t.TempDir(), mode, agentTokens
	s := New(&process.Process{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now}, o)
	require.NoError(t, s.identify())
	s.warnOfSharedTokens()
	return s, &log
}

func TestTokensOfMachinesThatAreWeakAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, tokens string
		warned       bool
	}{{"local", "host", false}, {"local", "infra-env", true}, {"none", "infra-env", false}} {
		s, log := identified(t, c.mode, c.tokens)
		const text = "tokens of hosts are off: whoever has a discovery image acts as each host of its InfraEnv"
		require.Equal(t, c.warned, strings.Contains(log.String(), text), c)
		require.Equal(t, c.warned, len(s.checks) == 1, "of /ready: %v", s.checks)
	}

	s, log := identified(t, "local", "infra-env")
	local := s.identity.(*auth.Local)
	local.KeyReplaced = nil // needs a database
	use := func(g auth.Grant) auth.Caller {
		token, err := local.Token(g)
		require.NoError(t, err)
		caller, err := local.Caller(t.Context(), auth.SchemeAgent, token.Reveal())
		require.NoError(t, err)
		return caller
	}
	log.Reset()
	now := time.Now()
	use(auth.Grant{InfraEnvID: uuid.New(), Issued: now, Expires: now.Add(time.Hour)})
	require.Empty(t, log.String())
	infraEnv, cluster := uuid.New(), uuid.New()
	for range 2 {
		caller := use(auth.Grant{InfraEnvID: infraEnv, Issued: now})
		require.Equal(t, infraEnv, caller.InfraEnvID, "a token that was given out stays valid")
		use(auth.Grant{ClusterID: cluster})
	}
	require.Equal(t, 2, strings.Count(log.String(), "a token without an end is used"), log.String())
	require.Contains(t, log.String(), "infra_env_id="+infraEnv.String())
	require.Contains(t, log.String(), "cluster_id="+cluster.String())
}
